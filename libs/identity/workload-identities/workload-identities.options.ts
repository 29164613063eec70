/** Injection token of the public URL, which is the audience of identities that name none. */
export const PUBLIC_URL = 'cadastre:workload-identities-public-url';
