"""The numbers of system calls for notebooks, by their names in the manual pages.

Each name has two numbers: for x86_64, and for aarch64, which lacks many older calls. A call that is
not listed fails with "not implemented", as on an older kernel; programs are written for that. Calls
in `REFUSED` fail with "not permitted".
"""

from __future__ import annotations

Numbers = tuple[int, int | None]

ALLOWED: dict[str, Numbers] = {
    # files
    "access": (21, None), "chdir": (80, 49), "chmod": (90, None), "chown": (92, None),
    "close": (3, 57), "close_range": (436, 436), "copy_file_range": (326, 285),
    "creat": (85, None), "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24),
    "faccessat": (269, 48), "faccessat2": (439, 439), "fadvise64": (221, 223),
    "fallocate": (285, 47), "fchdir": (81, 50), "fchmod": (91, 52), "fchmodat": (268, 53),
    "fchmodat2": (452, 452), "fchown": (93, 55), "fchownat": (260, 54),
    "fdatasync": (75, 83), "fgetxattr": (193, 10), "flistxattr": (196, 13), "flock": (73, 32),
    "fstat": (5, 80), "fstatfs": (138, 44), "fsync": (74, 82), "ftruncate": (77, 46),
    "futimesat": (261, None), "getcwd": (79, 17), "getdents": (78, None), "getdents64": (217, 61),
    "getxattr": (191, 8), "ioctl": (16, 29), "lchown": (94, None), "lgetxattr": (192, 9),
    "link": (86, None), "linkat": (265, 37), "listxattr": (194, 11), "llistxattr": (195, 12),
    "lseek": (8, 62), "lstat": (6, None), "mkdir": (83, None), "mkdirat": (258, 34),
    "mknod": (133, None), "mknodat": (259, 33), "newfstatat": (262, 79), "open": (2, None),
    "openat": (257, 56), "openat2": (437, 437), "pipe": (22, None), "pipe2": (293, 59),
    "pread64": (17, 67), "preadv": (295, 69), "preadv2": (327, 286), "pwrite64": (18, 68),
    "pwritev": (296, 70), "pwritev2": (328, 287), "read": (0, 63), "readlink": (89, None),
    "readlinkat": (267, 78), "readv": (19, 65), "rename": (82, None), "renameat": (264, 38),
    "renameat2": (316, 276), "rmdir": (84, None), "sendfile": (40, 71), "stat": (4, None),
    "statfs": (137, 43), "statx": (332, 291), "symlink": (88, None), "symlinkat": (266, 36),
    "truncate": (76, 45), "umask": (95, 166), "unlink": (87, None), "unlinkat": (263, 35),
    "utime": (132, None), "utimensat": (280, 88), "utimes": (235, None), "write": (1, 64),
    "writev": (20, 66),
    # memory
    "brk": (12, 214), "madvise": (28, 233), "membarrier": (324, 283), "mincore": (27, 232),
    "mlock": (149, 228), "mlock2": (325, 284), "mlockall": (151, 230), "mprotect": (10, 226),
    "mremap": (25, 216), "msync": (26, 227), "munlock": (150, 229), "munlockall": (152, 231),
    "munmap": (11, 215),
    # processes
    "arch_prctl": (158, None), "capget": (125, 90), "execve": (59, 221), "execveat": (322, 281),
    "exit": (60, 93), "exit_group": (231, 94), "fork": (57, None), "futex": (202, 98),
    "get_robust_list": (274, 100), "getcpu": (309, 168), "getegid": (108, 177),
    "geteuid": (107, 175), "getgid": (104, 176), "getgroups": (115, 158), "getpgid": (121, 155),
    "getpgrp": (111, None), "getpid": (39, 172), "getppid": (110, 173), "getpriority": (140, 141),
    "getrandom": (318, 278), "getresgid": (120, 150), "getresuid": (118, 148),
    "getrlimit": (97, 163), "getrusage": (98, 165), "getsid": (124, 156), "gettid": (186, 178),
    "getuid": (102, 174), "kill": (62, 129), "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424), "rseq": (334, 293),
    "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126),
    "sched_getaffinity": (204, 123), "sched_getattr": (315, 275), "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120), "sched_rr_get_interval": (148, 127),
    "sched_yield": (24, 124), "set_robust_list": (273, 99), "set_tid_address": (218, 96),
    "setfsgid": (123, 152), "setfsuid": (122, 151), "setgid": (106, 144), "setgroups": (116, 159),
    "setpgid": (109, 154), "setregid": (114, 143), "setresgid": (119, 149),
    "setresuid": (117, 147), "setreuid": (113, 145), "setrlimit": (160, 164),
    "setuid": (105, 146), "sysinfo": (99, 179), "tgkill": (234, 131), "times": (100, 153),
    "tkill": (200, 130), "uname": (63, 160), "vfork": (58, None), "wait4": (61, 260),
    "waitid": (247, 95),
    # signals and time
    "alarm": (37, None), "clock_getres": (229, 114), "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115), "getitimer": (36, 102), "gettimeofday": (96, 169),
    "nanosleep": (35, 101), "pause": (34, None), "restart_syscall": (219, 128),
    "rt_sigaction": (13, 134), "rt_sigpending": (127, 136), "rt_sigprocmask": (14, 135),
    "rt_sigqueueinfo": (129, 138), "rt_sigreturn": (15, 139), "rt_sigsuspend": (130, 133),
    "rt_sigtimedwait": (128, 137), "rt_tgsigqueueinfo": (297, 240), "setitimer": (38, 103),
    "sigaltstack": (131, 132), "signalfd": (282, None), "signalfd4": (289, 74),
    "time": (201, None), "timer_create": (222, 107), "timer_delete": (226, 111),
    "timer_getoverrun": (225, 109), "timer_gettime": (224, 108), "timer_settime": (223, 110),
    "timerfd_create": (283, 85), "timerfd_gettime": (287, 87), "timerfd_settime": (286, 86),
    # events and sockets
    "accept": (43, 202), "accept4": (288, 242), "bind": (49, 200), "connect": (42, 203),
    "epoll_create": (213, None), "epoll_create1": (291, 20), "epoll_ctl": (233, 21),
    "epoll_pwait": (281, 22), "epoll_pwait2": (441, 441), "epoll_wait": (232, None),
    "eventfd": (284, None), "eventfd2": (290, 19), "getpeername": (52, 205),
    "getsockname": (51, 204), "getsockopt": (55, 209), "listen": (50, 201), "poll": (7, None),
    "ppoll": (271, 73), "pselect6": (270, 72), "recvfrom": (45, 207), "recvmmsg": (299, 243),
    "recvmsg": (47, 212), "select": (23, None), "sendmmsg": (307, 269), "sendmsg": (46, 211),
    "sendto": (44, 206), "shutdown": (48, 210),
}  # fmt: skip

REFUSED: dict[str, Numbers] = {
    "add_key": (248, 217), "bpf": (321, 280), "chroot": (161, 51), "delete_module": (176, 106),
    "finit_module": (313, 273), "fremovexattr": (199, 16), "fsconfig": (431, 431),
    "fsetxattr": (190, 7), "fsmount": (432, 432), "fsopen": (430, 430), "init_module": (175, 105),
    "io_uring_setup": (425, 425), "kexec_file_load": (320, 294), "kexec_load": (246, 104),
    "keyctl": (250, 219), "lremovexattr": (198, 15), "lsetxattr": (189, 6),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "mount": (165, 40),
    "mount_setattr": (442, 442), "move_mount": (429, 429), "mq_open": (240, 180),
    "msgctl": (71, 187), "msgget": (68, 186), "msgrcv": (70, 188), "msgsnd": (69, 189),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "open_tree": (428, 428),
    "perf_event_open": (298, 241), "personality": (135, 92), "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "ptrace": (101, 117), "quotactl": (179, 60), "reboot": (169, 142), "removexattr": (197, 14),
    "request_key": (249, 218), "sched_setattr": (314, 274), "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119), "semctl": (66, 191), "semget": (64, 190),
    "semop": (65, 193), "semtimedop": (220, 192), "setns": (308, 268), "setxattr": (188, 5),
    "shmat": (30, 196), "shmctl": (31, 195), "shmdt": (67, 197), "shmget": (29, 194),
    "swapon": (167, 224), "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282),
    "vmsplice": (278, 75),
}  # fmt: skip

LOOKED_AT: dict[str, Numbers] = {
    # allowed or rejected by their arguments, see `seccomp`
    "fcntl": (72, 25), "prctl": (157, 167), "mmap": (9, 222), "clone": (56, 220),
    "clone3": (435, 435), "socket": (41, 198), "socketpair": (53, 199), "setsockopt": (54, 208),
    "setpriority": (141, 140), "prlimit64": (302, 261), "sched_setaffinity": (203, 122),
    "setsid": (112, 157),
}  # fmt: skip
