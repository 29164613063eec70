/** What the server accepts as the key of a tag. */
export const KEY_RULE = 'At most 128 letters (a to z), digits, spaces and _ . = + @ : -';
