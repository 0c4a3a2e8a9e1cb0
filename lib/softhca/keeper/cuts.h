/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Files of memory that programs cut short while they are mapped here. */
#ifndef SHCA_KEEPER_CUTS_H
#define SHCA_KEEPER_CUTS_H

/** Let no program end this process by cutting a file short: what is missing reads as zero. */
void shca_cuts_survive(void);

#endif /* SHCA_KEEPER_CUTS_H */
