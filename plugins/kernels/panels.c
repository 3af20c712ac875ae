/* SPDX-License-Identifier: MIT */
#include "panels.h"

#include <string.h>

/* A tile is what stays in registers: some rows by 64, 32 or 16 columns. */
#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX2__)
#define LANES 8
#else
#define LANES 4
#endif
/* Of a block of a product: so much of b stays in the nearest cache. */
#define DEPTH PANELS_WIDEST
#define EDGE 16 /* columns of the narrowest tile */

typedef float vector __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* c = a . b, of any strides; the columns of b and c, and the depth, go in blocks that
 * may lie apart. */
struct product {
    int64_t rows, columns, depth;
    int64_t panel;                  /* columns that lie together */
    int64_t block;                  /* depth that is done at once */
    const float *a, *b;             /* [rows,depth], [depth,columns] */
    int64_t a_row, a_step, a_block; /* a_step: to the next in depth */
    int64_t b_step, b_block, b_panel;
    float *c; /* [rows,columns] */
    int64_t c_row, c_panel;
    const float *bias; /* [rows]: where sums start; NULL: at 0 */
    int add;           /* … or at c */
};

/* Some rows and columns of it, over one block of depth. */
struct part {
    int64_t rows, depth;
    const float *a, *b, *bias;
    int64_t a_row, a_step, b_step, c_row;
    float *c;
    int add;
};

/* For all rows i and vectors j of a tile. Unrolled early, or sums would go through
 * memory on their way to the registers that they stay in. */
#define EACH(ROWS, VECTORS)                                                            \
    _Pragma("GCC unroll 16") for (int i = 0; i < (ROWS); i++)                          \
        _Pragma("GCC unroll 16") for (int j = 0; j < (VECTORS); j++)

/* c[ROWS, VECTORS * LANES] of a part, from its row `first` on */
#define TILE(ROWS, VECTORS)                                                            \
    static inline void tile_##ROWS##_##VECTORS(const struct part *p, int64_t first) {  \
        const float *a = p->a + first * p->a_row, *b = p->b;                           \
        float *c = p->c + first * p->c_row;                                            \
        vector sum[(ROWS)][(VECTORS)];                                                 \
        if (p->add) {                                                                  \
            EACH(ROWS, VECTORS) sum[i][j] = *(vector *)(c + i * p->c_row + j * LANES); \
        } else if (p->bias) {                                                          \
            EACH(ROWS, VECTORS) sum[i][j] = (vector){0} + p->bias[first + i];          \
        } else {                                                                       \
            EACH(ROWS, VECTORS) sum[i][j] = (vector){0};                               \
        }                                                                              \
        for (int64_t k = 0; k < p->depth; k++, a += p->a_step, b += p->b_step) {       \
            vector right[(VECTORS)];                                                   \
            EACH(1, VECTORS) right[j] = *(const vector *)(b + j * LANES);              \
            EACH(ROWS, VECTORS) sum[i][j] += a[i * p->a_row] * right[j];               \
        }                                                                              \
        EACH(ROWS, VECTORS) * (vector *)(c + i * p->c_row + j * LANES) = sum[i][j];    \
    }

/* The columns of a tile, all rows of a part: most by tiles of ROWS */
#define STRIP(ROWS, VECTORS)                                                           \
    TILE(ROWS, VECTORS)                                                                \
    TILE(2, VECTORS)                                                                   \
    TILE(1, VECTORS)                                                                   \
    static void strip_##VECTORS(const struct part *p) {                                \
        int64_t i = 0;                                                                 \
        for (; i + (ROWS) <= p->rows; i += (ROWS)) tile_##ROWS##_##VECTORS(p, i);      \
        for (; i + 2 <= p->rows; i += 2) tile_2_##VECTORS(p, i);                       \
        if (i < p->rows) tile_1_##VECTORS(p, i);                                       \
    }

#if LANES == 16
STRIP(6, 4)
STRIP(12, 2)
STRIP(12, 1)
#elif LANES == 8
STRIP(6, 2)
#else
STRIP(3, 4)
#endif

/* As many columns as a tile has, of those that are left; 0: fewer than EDGE are */
static int64_t strip(const struct part *p, int64_t columns) {
#if LANES == 16
    if (columns >= 64) return strip_4(p), 64;
    if (columns >= 32) return strip_2(p), 32;
    if (columns >= 16) return strip_1(p), 16;
#elif LANES == 8
    if (columns >= 16) return strip_2(p), 16;
#else
    if (columns >= 16) return strip_4(p), 16;
#endif
    return 0;
}

/* Columns that fill no tile, through copies that do. depth <= DEPTH. */
static void strip_edge(const struct part *p, int64_t columns) {
    enum { ROWS = 12 };
    const size_t bytes = (size_t)columns * sizeof(float);
    float b[DEPTH * EDGE] = {0}, c[ROWS * EDGE] = {0};
    for (int64_t k = 0; k < p->depth; k++)
        memcpy(b + k * EDGE, p->b + k * p->b_step, bytes);
    for (int64_t first = 0; first < p->rows; first += ROWS) {
        struct part some = *p;
        some.rows = p->rows - first < ROWS ? p->rows - first : ROWS;
        some.a += first * p->a_row;
        if (p->bias) some.bias += first;
        some.b = b;
        some.b_step = some.c_row = EDGE;
        some.c = c;
        for (int64_t i = 0; p->add && i < some.rows; i++)
            memcpy(c + i * EDGE, p->c + (first + i) * p->c_row, bytes);
        strip(&some, EDGE);
        for (int64_t i = 0; i < some.rows; i++)
            memcpy(p->c + (first + i) * p->c_row, c + i * EDGE, bytes);
    }
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* A panel of columns after the other; of each, block after block of the depth. */
static void multiply(const struct product *p) {
    for (int64_t panel = 0; panel * p->panel < p->columns; panel++) {
        const int64_t columns = least(p->columns - panel * p->panel, p->panel);
        for (int64_t block = 0; block * p->block < p->depth; block++) {
            struct part part = {.rows = p->rows,
                                .depth = least(p->depth - block * p->block, p->block),
                                .a = p->a + block * p->a_block,
                                .b = p->b + block * p->b_block + panel * p->b_panel,
                                .bias = p->bias,
                                .a_row = p->a_row,
                                .a_step = p->a_step,
                                .b_step = p->b_step,
                                .c_row = p->c_row,
                                .c = p->c + panel * p->c_panel,
                                .add = p->add || block > 0};
            for (int64_t column = 0, done; column < columns; column += done) {
                done = strip(&part, columns - column);
                if (!done) strip_edge(&part, done = columns - column);
                part.b += done;
                part.c += done;
            }
        }
    }
}

const char *panels_describe(void) {
    return LANES == 16 ? "panels, AVX-512" : LANES == 8 ? "panels, AVX2" : "panels";
}

int panels_are_fused(void) {
    return LANES > 4;
}

void panels_forward(int64_t rows, int64_t in, int64_t out, int64_t wide, const float *x,
                    const float *w, const float *bias, float *y) {
    multiply(&(struct product){.rows = out,
                               .columns = (rows + wide - 1) / wide * wide,
                               .depth = in,
                               .panel = wide,
                               .block = DEPTH,
                               .a = w,
                               .a_row = in,
                               .a_step = 1,
                               .a_block = DEPTH,
                               .b = x,
                               .b_step = wide,
                               .b_block = DEPTH * wide,
                               .b_panel = in * wide,
                               .c = y,
                               .c_row = wide,
                               .c_panel = out * wide,
                               .bias = bias});
}

void panels_backward_input(int64_t rows, int64_t in, int64_t out, int64_t wide,
                           const float *dy, const float *w, float *dx) {
    multiply(&(struct product){.rows = in,
                               .columns = (rows + wide - 1) / wide * wide,
                               .depth = out,
                               .panel = wide,
                               .block = DEPTH,
                               .a = w,
                               .a_row = 1,
                               .a_step = in,
                               .a_block = DEPTH * in,
                               .b = dy,
                               .b_step = wide,
                               .b_block = DEPTH * wide,
                               .b_panel = out * wide,
                               .c = dx,
                               .c_row = wide,
                               .c_panel = in * wide});
}

void panels_backward_weight(int64_t rows, int64_t in, int64_t out, int64_t wide,
                            const float *dy, const float *x, int add, float *dw) {
    if (rows == 0 && !add) memset(dw, 0, (size_t)(out * in) * sizeof *dw);
    multiply(&(struct product){.rows = out,
                               .columns = in,
                               .depth = rows,
                               .panel = DEPTH,
                               .block = wide,
                               .a = dy,
                               .a_row = wide,
                               .a_step = 1,
                               .a_block = out * wide,
                               .b = x,
                               .b_step = in,
                               .b_block = wide * in,
                               .b_panel = DEPTH,
                               .c = dw,
                               .c_row = in,
                               .c_panel = DEPTH,
                               .add = add});
}

void panels_backward_bias(int64_t rows, int64_t out, int64_t wide, const float *dy,
                          int add, float *db) {
    if (!add) memset(db, 0, (size_t)out * sizeof *db);
    for (int64_t first = 0; first < rows; first += wide, dy += out * wide)
        for (int64_t i = 0; i < out; i++) {
            const float *d = dy + i * wide;
            float lane[EDGE] = {0}, sum = 0;
            const int64_t count = least(rows - first, wide);
            int64_t j = 0;
            for (; j + EDGE <= count; j += EDGE)
                for (int k = 0; k < EDGE; k++) lane[k] += d[j + k];
            for (int k = 0; j + k < count; k++) lane[k] += d[j + k];
            for (int k = 0; k < EDGE; k++) sum += lane[k];
            db[i] += sum;
        }
}

/* ---- between rows and panels ---- */

typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));

/* b[j,i] = a[i,j], 8 by 8 */
static inline void transpose_8(const float *a, int64_t a_row, float *b, int64_t b_row) {
    eight r[8], s[8];
    for (int i = 0; i < 8; i++) r[i] = *(const eight *)(a + i * a_row);
    for (int i = 0; i < 8; i += 2) {
        s[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        s[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int i = 0; i < 8; i++) {
        const int of = i / 4 * 4 + i % 2;
        if (i % 4 < 2)
            r[i] = __builtin_shufflevector(s[of], s[of + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        else
            r[i] =
                __builtin_shufflevector(s[of], s[of + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int i = 0; i < 4; i++) {
        *(eight *)(b + i * b_row) =
            __builtin_shufflevector(r[i], r[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        *(eight *)(b + (i + 4) * b_row) =
            __builtin_shufflevector(r[i], r[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

/* b[columns,rows] = a[rows,columns]^T */
static void transpose(int64_t rows, int64_t columns, const float *a, int64_t a_row,
                      float *b, int64_t b_row) {
    const int64_t rows_8 = rows / 8 * 8, columns_8 = columns / 8 * 8;
    for (int64_t i = 0; i < rows_8; i += 16)
        for (int64_t j = 0; j < columns_8; j += 8) {
            transpose_8(a + i * a_row + j, a_row, b + j * b_row + i, b_row);
            if (i + 8 < rows_8)
                transpose_8(a + (i + 8) * a_row + j, a_row, b + j * b_row + i + 8,
                            b_row);
        }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = i < rows_8 ? columns_8 : 0; j < columns; j++)
            b[j * b_row + i] = a[i * a_row + j];
}

void panels_pack(int64_t rows, int64_t width, int64_t wide, const float *x,
                 float *panels) {
    for (int64_t first = 0; first < rows; first += wide) {
        const int64_t count = least(rows - first, wide);
        transpose(count, width, x + first * width, width, panels, wide);
        for (int64_t j = 0; count < wide && j < width; j++)
            memset(panels + j * wide + count, 0, (size_t)(wide - count) * sizeof *x);
        panels += width * wide;
    }
}

void panels_unpack(int64_t rows, int64_t width, int64_t wide, const float *panels,
                   float *x) {
    for (int64_t first = 0; first < rows; first += wide, panels += width * wide)
        transpose(width, least(rows - first, wide), panels, wide, x + first * width,
                  width);
}
