/** Injection token for the name of the key in Vault that signs checkpoints; null if the site has the keys itself. */
export const REMOTE_SIGNING_KEY = Symbol('REMOTE_SIGNING_KEY');
