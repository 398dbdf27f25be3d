// Alerts that are open.

/** What nobody has acknowledged and no silence covers. */
export const OPEN_ALERTS = { acknowledged: 'false', state: ['kept', 'pending', 'sent', 'given_up'] }
