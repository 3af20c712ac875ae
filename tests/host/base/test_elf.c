/* SPDX-License-Identifier: MIT */
/* A shared object made byte by byte, and every way to spoil it. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf.h"
#include "support/test.h"

enum { NEEDED, RUNPATH, STRTAB, STRSZ, FLAGS, END, DYNAMIC_COUNT };

/* One PT_LOAD over the whole of it; addresses are offsets. */
struct image {
    Elf64_Ehdr header;
    Elf64_Phdr load, dynamic;
    Elf64_Dyn entries[DYNAMIC_COUNT];
    char strings[64];
};

static uint16_t machine(void) {
    Elf64_Ehdr own;
    FILE *program = fopen("/proc/self/exe", "rb");
    assert_non_null(program);
    assert_int_equal(fread(&own, sizeof own, 1, program), 1);
    fclose(program);
    return own.e_machine;
}

static struct image make_image(void) {
    struct image image;
    memset(&image, 0, sizeof image);
    memcpy(image.header.e_ident, ELFMAG, SELFMAG);
    image.header.e_ident[EI_CLASS] = ELFCLASS64;
    image.header.e_ident[EI_DATA] = ELFDATA2LSB;
    image.header.e_ident[EI_VERSION] = EV_CURRENT;
    image.header.e_type = ET_DYN;
    image.header.e_machine = machine();
    image.header.e_phoff = offsetof(struct image, load);
    image.header.e_phentsize = sizeof(Elf64_Phdr);
    image.header.e_phnum = 2;
    image.load.p_type = PT_LOAD;
    image.load.p_filesz = image.load.p_memsz = sizeof image;
    image.dynamic.p_type = PT_DYNAMIC;
    image.dynamic.p_offset = image.dynamic.p_vaddr = offsetof(struct image, entries);
    image.dynamic.p_filesz = image.dynamic.p_memsz = sizeof image.entries;
    image.entries[NEEDED] = (Elf64_Dyn){DT_NEEDED, {1}};
    image.entries[RUNPATH] = (Elf64_Dyn){DT_RUNPATH, {32}};
    image.entries[STRTAB] = (Elf64_Dyn){DT_STRTAB, {offsetof(struct image, strings)}};
    image.entries[STRSZ] = (Elf64_Dyn){DT_STRSZ, {sizeof image.strings}};
    image.entries[FLAGS] = (Elf64_Dyn){DT_FLAGS_1, {DF_1_NOW}};
    strcpy(image.strings + 1, "libm.so.6");
    strcpy(image.strings + 32, "/usr/lib:/opt/lib");
    return image;
}

static lathe_status check_bytes(const void *bytes, size_t count, struct error *err) {
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fflush(file), 0);
    lathe_status status = elf_check(fileno(file), (int64_t)count, err);
    fclose(file);
    return status;
}

static void assert_refused(const struct image *image, const char *what) {
    struct error err = {0};
    assert_int_equal(check_bytes(image, sizeof *image, &err), LATHE_EMISSING);
    if (!strstr(err.what, what)) fail_msg("\"%s\" is not in \"%s\"", what, err.what);
}

static void sound_image_passes(void **state) {
    (void)state;
    struct image image = make_image();
    struct error err = {0};
    assert_int_equal(check_bytes(&image, sizeof image, &err), LATHE_OK);
}

static void every_length_but_the_whole_is_refused(void **state) {
    (void)state;
    struct image image = make_image();
    for (size_t count = 0; count < sizeof image; count++) {
        struct error err = {0};
        assert_int_equal(check_bytes(&image, count, &err), LATHE_EMISSING);
        assert_string_not_equal(err.what, "");
    }
}

static void short_file_says_how_short(void **state) {
    (void)state;
    struct image image = make_image();
    struct error err = {0};
    check_bytes(&image, sizeof image - 1, &err);
    assert_non_null(strstr(err.what, "shorter than its program headers say"));
}

static void header_faults_are_named(void **state) {
    (void)state;
    struct image image = make_image();
    image.header.e_ident[0] = '#';
    assert_refused(&image, "not a shared object: it starts with 23 45 4c 46");
    image = make_image();
    image.header.e_ident[EI_CLASS] = ELFCLASS32;
    assert_refused(&image, "a 32-bit file");
    image = make_image();
    image.header.e_ident[EI_DATA] = ELFDATA2MSB;
    assert_refused(&image, "big-endian");
    image = make_image();
    image.header.e_machine = EM_ARM;
    assert_refused(&image, "it is for arm (ELF machine 40)");
    image = make_image();
    image.header.e_type = ET_EXEC;
    assert_refused(&image, "a program, not a shared object");
    image = make_image();
    image.header.e_type = ET_REL;
    assert_refused(&image, "an object file");
    image = make_image();
    image.header.e_phentsize = 32;
    assert_refused(&image, "program headers of 32 bytes");
    image = make_image();
    image.header.e_phnum = 0;
    assert_refused(&image, "0 program headers");
    image = make_image();
    image.header.e_phnum = 0xffff;
    assert_refused(&image, "65535 program headers");
    image = make_image();
    image.header.e_phoff = UINT64_MAX - 8;
    assert_refused(&image, "shorter than its program headers");
}

static void segment_faults_are_named(void **state) {
    (void)state;
    struct image image = make_image();
    image.load.p_offset = UINT64_MAX - 4; /* offset + size wraps to a small number */
    assert_refused(&image, "program header 0 makes no sense");
    image = make_image();
    image.load.p_vaddr = UINT64_MAX - 4;
    assert_refused(&image, "program header 0 makes no sense");
    image = make_image();
    image.load.p_filesz = image.load.p_memsz + 1;
    assert_refused(&image, "program header 0 makes no sense");
    image = make_image();
    image.load.p_type = PT_NOTE;
    assert_refused(&image, "nothing to load");
    image = make_image();
    image.dynamic.p_type = PT_LOAD; /* and overlaps the first */
    assert_refused(&image, "program header 1 makes no sense");
}

static void dynamic_faults_are_named(void **state) {
    (void)state;
    struct image image = make_image();
    image.dynamic.p_type = PT_NOTE;
    assert_refused(&image, "no dynamic section");
    image = make_image();
    image.dynamic.p_vaddr = 1 << 20;
    assert_refused(&image, "no dynamic section");
    image = make_image();
    image.dynamic.p_memsz = 1 << 30;
    assert_refused(&image, "no dynamic section");
    image = make_image();
    image.entries[END].d_tag = DT_DEBUG;
    assert_refused(&image, "has no end");
    image = make_image();
    image.entries[STRTAB].d_un.d_ptr = sizeof image;
    assert_refused(&image, "no string table");
    image = make_image();
    image.entries[NEEDED].d_un.d_val = sizeof image.strings;
    assert_refused(&image, "outside of its string table");
    image = make_image();
    memset(image.strings, 'x', sizeof image.strings);
    assert_refused(&image, "has no end");
    image = make_image();
    image.entries[FLAGS].d_un.d_val = DF_1_PIE;
    assert_refused(&image, "a program, not a shared object");
}

static void places_relative_to_something_are_refused(void **state) {
    (void)state;
    static const char *const needed[] = {"$ORIGIN/libx.so", "${ORIGIN}/libx.so",
                                         "./libx.so", "lib/libx.so",
                                         "/opt/$ORIGIN/x.so"};
    static const char *const searched[] = {
        "$ORIGIN",   "${ORIGIN}/..",       ".",           "lib", "/usr/lib:",
        ":/usr/lib", "/usr/lib:$ORIGIN/x", "/usr/$ORIGIN"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        struct image image = make_image();
        strcpy(image.strings + 1, needed[i]);
        assert_refused(&image, "relative to the file or to the current directory");
    }
    for (size_t i = 0; i < sizeof searched / sizeof *searched; i++) {
        struct image image = make_image();
        strcpy(image.strings + 32, searched[i]);
        assert_refused(&image, "(RPATH), a place relative");
        image.entries[RUNPATH].d_tag = DT_RPATH;
        assert_refused(&image, "(RPATH), a place relative");
    }
}

static void absolute_places_are_fine(void **state) {
    (void)state;
    static const char *const searched[] = {"", "/usr/lib", "/usr/$LIB/x:/opt"};
    for (size_t i = 0; i < sizeof searched / sizeof *searched; i++) {
        struct image image = make_image();
        struct error err = {0};
        strcpy(image.strings + 1, "/opt/libx.so");
        strcpy(image.strings + 32, searched[i]);
        assert_int_equal(check_bytes(&image, sizeof image, &err), LATHE_OK);
    }
}

/* Nothing that a byte can be set to may lead out of the file; sanitizers watch. */
static void any_byte_may_be_wrong(void **state) {
    (void)state;
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    struct image sound = make_image();
    FILE *file = tmpfile();
    assert_non_null(file);
    for (size_t i = 0; i < sizeof sound; i++) {
        for (size_t v = 0; v < sizeof values; v++) {
            struct image image = sound;
            struct error err = {0};
            ((unsigned char *)&image)[i] = values[v];
            assert_int_equal(pwrite(fileno(file), &image, sizeof image, 0),
                             sizeof image);
            lathe_status status = elf_check(fileno(file), sizeof image, &err);
            assert_true(status == LATHE_OK || status == LATHE_EMISSING);
        }
    }
    fclose(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_image_passes),
        cmocka_unit_test(every_length_but_the_whole_is_refused),
        cmocka_unit_test(short_file_says_how_short),
        cmocka_unit_test(header_faults_are_named),
        cmocka_unit_test(segment_faults_are_named),
        cmocka_unit_test(dynamic_faults_are_named),
        cmocka_unit_test(places_relative_to_something_are_refused),
        cmocka_unit_test(absolute_places_are_fine),
        cmocka_unit_test(any_byte_may_be_wrong),
    };
    return cmocka_run_group_tests_name("elf", tests, NULL, NULL);
}
