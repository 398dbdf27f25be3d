// The classes of failures (docs/protocol.md, "Executions").

export const classes = ['timeout', 'out_of_memory', 'permission_error', 'network_error', 'not_found', 'disk_error',
    'killed', 'crashed', 'lost_worker', 'user_error', 'unknown'] as const
