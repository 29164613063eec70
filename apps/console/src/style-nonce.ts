/** The nonce of this response, which the content policy of the page requires for style elements. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

export const getStyleNonce = (): string => nonce;

// Dialogs lock the scrolling of the page with a style element. Its library, get-nonce, reads the nonce from here.
Object.assign(globalThis, { __webpack_nonce__: nonce });
