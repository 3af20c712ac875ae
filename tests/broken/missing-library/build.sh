# SPDX-License-Identifier: MIT
:
