/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Threads that are to be cancelled while they are in this library: most functions that it stands
 * for are no places for that (pthreads(7)), such as ioctl(), but what it calls for them is; locks
 * would stay taken, and memory between two places.
 */
#ifndef SHCA_CLIENT_CANCEL_H
#define SHCA_CLIENT_CANCEL_H

/** From now on the calling thread is not cancelled. @return what shca_cancel_restore() takes */
int shca_cancel_disable(void);
void shca_cancel_restore(int before);

#endif /* SHCA_CLIENT_CANCEL_H */
