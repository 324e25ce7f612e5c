// Type of functions that read the person's settings.

/** Reads one setting below `trellis` that a person has set; `undefined` where it is as delivered. */
export type Own = (name: string) => unknown;
