/** The source of an import cannot be read. The message names the address, and contains nothing that the source has sent. */
export class ImportSourceError extends Error {
  /** `endsImport`: no other request would succeed either. */
  constructor(
    message: string,
    { cause, endsImport = false }: { readonly cause?: unknown; readonly endsImport?: boolean } = {},
  ) {
    super(message, { cause });
    this.endsImport = endsImport;
  }

  readonly endsImport: boolean;
}
