/** The answer of a server. */
export type HttpResponse = {
  readonly status: number;
  /** The header `Retry-After`. */
  readonly retryAfter: string | null;
  readonly bytes: Buffer;
};

/** What Node throws where the network fails. */
export type NetworkError = { readonly message: string; readonly code?: string; readonly path?: string | null };
