/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What the primary process does for the secondary ones: the verbs objects are its own, so it
 * registers memory, recovers queues and prints rules when they ask.
 */
#ifndef MDV_SERVER_H
#define MDV_SERVER_H

/** Answer questions from now on. @return 0 or a negative errno, logged */
int mdv_server_listen(void);

#endif /* MDV_SERVER_H */
