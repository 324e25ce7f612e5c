// Type of functions that read the person's settings.

/** Reads a setting below `trellis` that a person has set; `undefined` for a default. */
export type ReadSetting = (name: string) => unknown;
