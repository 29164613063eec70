export { SignInModule, type SignInModuleOptions } from './sign-in.module.js';
export { signInDefinition } from './sign-in.definition.js';
export { SignInOptions, type SignInOption } from './flow/sign-in-options.js';
export { createSignInLink, type SignInLink, type SignInLinkRequest } from './links/sign-in-links.operator.js';
