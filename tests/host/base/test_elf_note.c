/* SPDX-License-Identifier: MIT */
/* Notes of a shared object made byte by byte: found among others, and damaged in every
 * way without harm. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf.h"
#include "support/test.h"

struct note {
    Elf64_Nhdr header;
    char owner[8], text[12];
};

/* Two segments of notes; the second note of the second one is what is wanted. */
struct image {
    Elf64_Ehdr header;
    Elf64_Phdr load, first, second;
    struct note foreign;
    struct note other_type, wanted;
};

static struct note make_note(const char *owner, uint32_t type, const char *text) {
    struct note note;
    memset(&note, 0, sizeof note);
    note.header.n_namesz = (Elf64_Word)strlen(owner) + 1;
    note.header.n_descsz = (Elf64_Word)strlen(text);
    note.header.n_type = type;
    strcpy(note.owner, owner);
    memcpy(note.text, text, strlen(text));
    return note;
}

static Elf64_Phdr segment(uint32_t type, size_t offset, size_t size) {
    return (Elf64_Phdr){.p_type = type,
                        .p_offset = offset,
                        .p_vaddr = offset,
                        .p_filesz = size,
                        .p_memsz = size,
                        .p_align = 4};
}

static struct image make_image(void) {
    struct image image;
    FILE *program = fopen("/proc/self/exe", "rb");
    memset(&image, 0, sizeof image);
    assert_non_null(program);
    assert_int_equal(fread(&image.header, sizeof image.header, 1, program), 1);
    fclose(program);
    image.header.e_type = ET_DYN;
    image.header.e_phoff = offsetof(struct image, load);
    image.header.e_phnum = 3;
    image.load = segment(PT_LOAD, 0, sizeof image);
    image.first =
        segment(PT_NOTE, offsetof(struct image, foreign), sizeof image.foreign);
    image.second = segment(PT_NOTE, offsetof(struct image, other_type),
                           sizeof image - offsetof(struct image, other_type));
    image.foreign = make_note("GNU", 1, "something");
    image.other_type = make_note("lathe", 2, "not this one");
    image.wanted = make_note("lathe", 1, "{ \"a\": 1 }");
    return image;
}

static lathe_status find(const void *bytes, size_t count, char **text, size_t *length,
                         struct error *err) {
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fflush(file), 0);
    lathe_status status =
        elf_note(fileno(file), (int64_t)count, "lathe", 1, text, length, err);
    fclose(file);
    return status;
}

static void note_is_found_among_others(void **state) {
    (void)state;
    struct image image = make_image();
    struct error err = {0};
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(find(&image, sizeof image, &text, &length, &err), LATHE_OK);
    assert_non_null(text);
    assert_string_equal(text, "{ \"a\": 1 }");
    assert_int_equal(length, 10);
    free(text);
}

static void none_is_no_failure(void **state) {
    (void)state;
    struct image image = make_image();
    struct error err = {0};
    char *text = NULL;
    size_t length = 0;
    image.wanted.header.n_type = 3;
    assert_int_equal(find(&image, sizeof image, &text, &length, &err), LATHE_OK);
    assert_null(text);
}

static void notes_outside_of_the_file_are_refused(void **state) {
    (void)state;
    struct image image = make_image();
    struct error err = {0};
    char *text = NULL;
    size_t length = 0;
    image.second.p_filesz = sizeof image;
    assert_int_equal(find(&image, sizeof image, &text, &length, &err), LATHE_EMISSING);
    assert_non_null(strstr(err.what, "its notes lie outside of it"));
    assert_null(text);
}

/* Every byte of the notes set to every of some values: found, not found or refused, and
 * what is found lies in the file. */
static void damage_does_no_harm(void **state) {
    (void)state;
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xfc, 0xff};
    for (size_t at = offsetof(struct image, first); at < sizeof(struct image); at++)
        for (size_t i = 0; i < sizeof values; i++) {
            struct image image = make_image();
            struct error err = {0};
            char *text = NULL;
            size_t length = 0;
            ((unsigned char *)&image)[at] = values[i];
            lathe_status status = find(&image, sizeof image, &text, &length, &err);
            if (text) assert_true(length < sizeof image && text[length] == '\0');
            assert_true(status == LATHE_OK || err.what[0] != '\0');
            free(text);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(note_is_found_among_others),
        cmocka_unit_test(none_is_no_failure),
        cmocka_unit_test(notes_outside_of_the_file_are_refused),
        cmocka_unit_test(damage_does_no_harm),
    };
    return cmocka_run_group_tests_name("elf: notes", tests, NULL, NULL);
}
