/* SPDX-License-Identifier: MIT */
#include "json_fault.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define DEPTH_MAX 64
#define FOUND_BYTES 200

/* Bytes of a text that belong together, and what they follow. */
struct token {
    const char *start, *end; /* equal at the end of the text */
    char before; /* the last byte before it that is no space; 0: there is none */
    const char *opened[DEPTH_MAX]; /* the brackets that are open */
    size_t depth;
};

static bool is_wordly(char c) {
    return (c & 0x80) || isalnum((unsigned char)c) || strchr("_.+-", c);
}

static const char *skip_token(const char *from, const char *end) {
    const char *at = from + 1;
    if (*from == '"') {
        while (at < end && *at != '"') at += *at == '\\' && end - at > 1 ? 2 : 1;
        return at < end ? at + 1 : end;
    }
    while (is_wordly(*from) && at < end && is_wordly(*at)) at++;
    return at;
}

/* The token that holds a byte; false: brackets before it are nested too deep, and the
 * token is the first that is. */
static bool find_token(const char *bytes, size_t count, size_t offset,
                       struct token *token) {
    const char *at = bytes, *end = bytes + count;
    *token = (struct token){0};
    for (;;) {
        while (at < end && strchr(" \t\r\n", *at)) at++;
        token->start = token->end = at;
        if (at == end) return true;
        token->end = at = skip_token(at, end);
        if (at > bytes + offset) return true;
        if (strchr("{[", *token->start)) {
            if (token->depth == DEPTH_MAX) return false;
            token->opened[token->depth++] = token->start;
        } else if (strchr("}]", *token->start) && token->depth) {
            token->depth--;
        }
        token->before = at[-1];
    }
}

/* Line and column, both from 1; the column in characters. */
static lathe_status fail_at(const char *bytes, const char *place, const char *name,
                            struct error *err) {
    size_t line = 1, column = 1;
    for (const char *at = bytes; at < place; at++) {
        if (*at == '\n')
            line++, column = 1;
        else if ((*at & 0xc0) != 0x80)
            column++;
    }
    error_where(err, "%.300s%s%zu:%zu", name ? name : "", name ? ":" : "", line,
                column);
    return LATHE_EINVAL;
}

lathe_status json_check_text(const char *bytes, size_t count, const char *name,
                             struct error *err) {
    struct token token;
    const char *nul = count ? memchr(bytes, 0, count) : NULL, *place = bytes;
    if (count >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        fail(err, LATHE_EINVAL, "the text starts with a byte order mark");
        error_help(err, "save the file as UTF-8 without BOM");
    } else if (count >= 2 &&
               (memcmp(bytes, "\xff\xfe", 2) == 0 ||
                memcmp(bytes, "\xfe\xff", 2) == 0 || !bytes[0] != !bytes[1])) {
        fail(err, LATHE_EINVAL, "the text is UTF-16 or UTF-32");
        error_help(err, "save the file as UTF-8");
    } else if (nul) {
        fail(err, LATHE_EINVAL, "a NUL byte: text has none");
        place = nul;
    } else if (!find_token(bytes, count, count, &token)) {
        fail(err, LATHE_EINVAL, "nested deeper than %d levels", DEPTH_MAX);
        place = token.start;
    } else {
        return LATHE_OK;
    }
    return fail_at(bytes, place, name, err);
}

/* ---- faults that Jansson names ---- */

#define WHOLE_HELP "whole numbers go from -9223372036854775808 to 9223372036854775807"

static const struct fault {
    const char *told;                   /* how Jansson begins */
    enum { TOKEN, BYTE, ESCAPE } found; /* what it is about, and where that is */
    const char *what, *help;            /* what: a format for what was found */
} faults[] = {
    {"duplicate object key", TOKEN, "the key %s is given twice in one object",
     "remove one of the two"},
    {"too big", TOKEN, "%s does not fit into 64 bits", WHOLE_HELP},
    {"real number overflow", TOKEN, "%s is too large for a number",
     "the largest is about 1.797e308"},
    {"premature end", TOKEN, "the text ends inside a string",
     "close the string with '\"'"},
    {"\\u0000", TOKEN, "%s holds \\u0000, which no string can", "leave it out"},
    {"invalid Unicode", TOKEN, "%s holds half of a surrogate pair",
     "write the character itself, or both halves: \\ud83d\\ude00"},
    {"invalid escape", ESCAPE, "%s is not an escape of JSON",
     "a backslash itself is written \\\\"},
    {"unexpected newline", BYTE, "the line ends inside a string",
     "close the string with '\"'; a line break is written \\n"},
    {"control character 0x9 ", BYTE, "a raw tab inside a string", "write it as \\t"},
    {"control character", BYTE, "a raw control character (%s) inside a string",
     "remove it, or write it as \\u and four hexadecimal digits"},
    {"unable to decode", BYTE, "the byte %s is not UTF-8", "save the file as UTF-8"},
};

static bool begins(const char *string, const char *with) {
    return strncmp(string, with, strlen(with)) == 0;
}

static const char *tell_fault(const struct fault *fault, const struct token *token,
                              const char *stop, struct error *err) {
    char found[FOUND_BYTES];
    const char *place = token->start, *end = token->end;
    if (fault->found == ESCAPE) {
        place = stop - 2; /* the last one read is what makes no escape */
        while (*place != '\\') place--;
        end = stop - 1 + text_utf8(stop - 1, (size_t)(token->end - stop + 1));
    }
    snprintf(found, sizeof found, "%.*s", (int)(end - place), place);
    if (fault->found == BYTE) {
        place = stop;
        snprintf(found, sizeof found, "0x%02x", (unsigned char)*place);
    }
    fail(err, LATHE_EINVAL, fault->what, found);
    error_help(err, "%s", fault->help);
    return place;
}

/* ---- what is out of place ---- */

static void tell_end(const char *bytes, const struct token *token, struct error *err) {
    if (!token->depth) {
        fail(err, LATHE_EINVAL, "the text is empty");
        error_help(err, "the smallest object is {}");
        return;
    }
    const char *opened = token->opened[token->depth - 1];
    size_t line = 1;
    for (const char *at = bytes; at < opened; at++) line += *at == '\n';
    fail(err, LATHE_EINVAL, "the text ends, but the '%c' of line %zu is still open",
         *opened, line);
    error_help(err, "close it with '%c'", *opened == '{' ? '}' : ']');
}

/* A word that is no value. */
static void tell_word(const char *word, struct error *err) {
    static const char *const meant[][2] = {
        {"true", "true"}, {"false", "false"}, {"null", "null"},     {"none", "null"},
        {"yes", "true"},  {"no", "false"},    {"undefined", "null"}};
    const char *bare = word + strspn(word, "+-.");
    bool is_number = isdigit((unsigned char)*bare);
    if (strcasecmp(bare, "nan") == 0 || strncasecmp(bare, "inf", 3) == 0) {
        fail(err, LATHE_EINVAL, "%s: numbers of JSON are finite", word);
        return;
    }
    fail(err, LATHE_EINVAL, "%s is not a %s of JSON", word,
         is_number ? "number" : "value");
    error_help(err, "text goes in double quotes: \"%s\"", word);
    if (is_number && bare != word && !(*word == '-' && bare == word + 1))
        error_help(err, "a number starts with a digit, or '-' and a digit");
    else if (*bare == '0' && isdigit((unsigned char)bare[1]))
        error_help(err, "leave out the zeros that it starts with");
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
        if (strcasecmp(word, meant[i][0]) == 0)
            error_help(err, "write %s", meant[i][1]);
}

static const char *name_wanted(const char *told) {
    static const char *const wanted[][2] = {{"string or", "a key in double quotes"},
                                            {"':'", "':' after a key"},
                                            {"']'", "',' or ']'"},
                                            {"'}'", "',' or '}'"},
                                            {"end of file", "the end of the text"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (begins(told, wanted[i][0])) return wanted[i][1];
    return "a value";
}

static void tell_token(const struct token *token, const char *told, struct error *err) {
    char c = *token->start, found[FOUND_BYTES];
    char opened = token->depth ? *token->opened[token->depth - 1] : '\0';
    bool is_bracket = opened && (c == '}' || c == ']');
    bool is_key = begins(told, "string or"), is_word = is_wordly(c);
    const char *wanted = name_wanted(told);
    snprintf(found, sizeof found, "%.*s", (int)(token->end - token->start),
             token->start);
    if (is_word && !is_key && (!token->before || strchr("[,:", token->before))) {
        tell_word(found, err);
    } else if (c == '/' || c == '#') {
        fail(err, LATHE_EINVAL, "a comment: JSON has none");
        error_help(err, "remove it");
    } else if (c == '\'') {
        fail(err, LATHE_EINVAL, "a single quote: %s was expected", wanted);
        error_help(err, "text goes in double quotes: \"like this\"");
    } else if (is_bracket && (c == '}') != (opened == '{')) {
        fail(err, LATHE_EINVAL, "'%c' closes what '%c' opened", c, opened);
    } else if (is_bracket && token->before == ',') {
        fail(err, LATHE_EINVAL, "a comma before '%c'", c);
        error_help(err, "remove the comma: JSON wants none after the last one");
    } else {
        fail(err, LATHE_EINVAL, "found '%s' where %s was expected", found, wanted);
        if (is_key && isdigit((unsigned char)c))
            error_help(err, "decimals are written with a point: 0.1");
        else if (is_key && is_word)
            error_help(err, "write \"%s\"", found);
    }
}

lathe_status json_explain(const char *bytes, size_t count, size_t stop,
                          const char *told, bool is_cut, const char *name,
                          struct error *err) {
    struct token token;
    if (begins(told, "invalid escape") && stop == count) told = "premature end";
    find_token(bytes, count, stop ? stop - 1 : 0, &token);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (begins(told, faults[i].told))
            return fail_at(bytes, tell_fault(&faults[i], &token, bytes + stop, err),
                           name, err);
    if (is_cut || token.start == token.end) {
        find_token(bytes, count, count, &token);
        tell_end(bytes, &token, err);
    } else {
        tell_token(&token, told, err);
    }
    return fail_at(bytes, token.start, name, err);
}
