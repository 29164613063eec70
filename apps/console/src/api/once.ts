/** For data whose reads the server records in the audit trail, so that nothing requests them again by itself. */
export const ONCE = { staleTime: Number.POSITIVE_INFINITY, refetchOnWindowFocus: false } as const;
