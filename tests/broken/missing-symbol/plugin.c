/* SPDX-License-Identifier: MIT */
/* Exports nothing, as when visibility was hidden for all. */
int unused;
