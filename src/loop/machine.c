#include "loop/machine.h"
#include "loop/file.h"

#include <linux/magic.h>
#include <sys/vfs.h>

enum { BOOT_ID_BYTES = 64 };

struct str machine_boot_id(struct arena *arena)
{
    struct str text;
    if (file_read("/proc/sys/kernel/random/boot_id", BOOT_ID_BYTES, arena, &text, NULL) != RC_OK)
        return STR("");
    return str_trim(text);
}

/* Those that are known to be local: of new kinds of network file systems there is no end. */
bool machine_has_file(int fd)
{
    static const uint32_t local[] = {
        EXT4_SUPER_MAGIC, /* ext2 to ext4 */
        XFS_SUPER_MAGIC,
        BTRFS_SUPER_MAGIC,
        TMPFS_MAGIC,
        F2FS_SUPER_MAGIC,
        0xca451a4e,
        /* bcachefs */ OVERLAYFS_SUPER_MAGIC, /* of containers: the upper layer is local */
        RAMFS_MAGIC,
        0x2fc12fc1, /* zfs, which is not in the kernel's list */
    };
    struct statfs fs;
    if (fstatfs(fd, &fs) != 0)
        return false;
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++) {
        if ((uint32_t)fs.f_type == local[i])
            return true;
    }
    return false;
}
