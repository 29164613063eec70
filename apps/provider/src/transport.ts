/** The response of a server. */
export type HttpResponse = {
  readonly status: number;
  /** Value of the header `Retry-After`. */
  readonly retryAfter: string | null;
  readonly bytes: Buffer;
};

/** An error that Node throws if the network fails. */
export type NetworkError = { readonly message: string; readonly code?: string; readonly path?: string | null };
