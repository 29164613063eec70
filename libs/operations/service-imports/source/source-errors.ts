/** The source of an import cannot be read. The message names the address, and contains nothing that the source has sent. */
export class ImportSourceError extends Error {}
