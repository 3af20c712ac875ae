/* SPDX-License-Identifier: MIT */
/* The checksum of gzip and zip (CRC-32, reflected 0xEDB88320). Not a digest: it finds
 * accidents, not intent. */
#ifndef HOST_BASE_CRC32_H
#define HOST_BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32_bytes(const void *bytes, size_t count);

#endif
