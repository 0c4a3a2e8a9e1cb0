/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Requests of secondary processes to the primary: it owns the verbs objects, so it registers
 * memory, recovers queues and prints rules for them.
 */
#ifndef MDV_SERVER_H
#define MDV_SERVER_H

/** Answer questions from now on. @return 0 or a negative errno, logged */
int mdv_server_listen(void);

#endif /* MDV_SERVER_H */
