import { html, renderHiddenField, renderMessagePage, renderPage, type HtmlPage } from '#api/pages';
import type { ProviderFault } from '../protocol/provider-fault.js';
import type { SignInFault } from './sign-in-rules.js';

/** A page and its status. */
export type StatusPage = { readonly status: number; readonly page: HtmlPage };

/** `returnTo`: the page that the person wants; null for none. `confirms`: a person with a session proves again who they are. */
type SignInTarget = { readonly returnTo: string | null; readonly confirms?: boolean };

/** Leads to all other sign-in methods. */
const linkToSignIn = ({ returnTo, confirms = false }: SignInTarget) => {
  const parts = [
    ...(confirms ? ['confirm=1'] : []),
    ...(returnTo === null ? [] : [`return_to=${encodeURIComponent(returnTo)}`]),
  ];
  return { path: parts.length === 0 ? '/sign-in' : `/sign-in?${parts.join('&')}`, text: 'Use another sign-in method' };
};

export const renderExpiredPage = (): StatusPage => ({
  status: 400,
  page: renderMessagePage({
    title: 'Please start again',
    messages: ['The sign-in took longer than 10 minutes, has ended already, or started in another browser or window.'],
    link: { path: '/sign-in', text: 'Start again' },
  }),
});

/** `requestId` is for administrators: the log has the reason. */
export const renderFaultPage = (
  { kind, message, lacksAuthTime }: ProviderFault,
  { name, requestId, ...target }: SignInTarget & { readonly name: string; readonly requestId: string },
): StatusPage => {
  const link = linkToSignIn(target);
  switch (kind) {
    case 'unreachable': {
      const messages = ['Please try again in a few minutes, or use another sign-in method.'];
      return {
        status: 503,
        page: renderMessagePage({ title: `${name} cannot be reached at the moment`, messages, link }),
      };
    }
    case 'refused': {
      const messages = [`It answered with the error ${message}.`];
      return { status: 403, page: renderMessagePage({ title: `${name} did not sign you in`, messages, link }) };
    }
    case 'invalid': {
      if (lacksAuthTime) {
        const messages = [
          `${name} does not state when you signed in there. Use a password, a passkey or a sign-in link.`,
        ];
        return {
          status: 400,
          page: renderMessagePage({ title: `${name} cannot confirm who you are`, messages, link }),
        };
      }
      const messages = [
        'A check of the answer failed, so nothing has changed. Please start again.',
        `If it fails again, send this number to an administrator of this server: ${requestId}`,
      ];
      return { status: 400, page: renderMessagePage({ title: `The answer of ${name} is not valid`, messages, link }) };
    }
  }
};

/** Sends the response of a provider on to another path. Without scripts, the person presses the button. */
export const renderContinuePage = (
  path: string,
  form: { readonly SAMLResponse: string; readonly RelayState: string },
): HtmlPage =>
  renderPage({
    title: 'Signing in',
    scripts: ['/sign-in/saml/continue.js'],
    body: html`<form method="post" action="${path}" data-continue>
      ${renderHiddenField('SAMLResponse', form.SAMLResponse)} ${renderHiddenField('RelayState', form.RelayState)}
      <button>Continue</button>
    </form>`,
  });

const MESSAGES: Readonly<Record<SignInFault, (name: string) => string>> = {
  'verified-email': (name) =>
    `${name} does not confirm an e-mail address of yours. An administrator of ${name} can help.`,
  domain: () => 'Your e-mail address is not in a domain that may sign in here.',
  group: (name) =>
    `You are in none of the groups of ${name} that may sign in here. An administrator of ${name} can help.`,
  account: (name) =>
    `No account here is linked with your account at ${name}. If you have an account here, use another sign-in method, and ` +
    `link ${name} on the page of your account. Otherwise ask an administrator of this server for an account.`,
  'email-taken': (name) =>
    `An account here has your e-mail address, and is not linked with your account at ${name}. Sign in to it with another ` +
    `method, and link ${name} on the page of your account.`,
  suspended: () => 'Your account is suspended. An administrator of this server can help.',
};

export const renderRefusedPage = (name: string, faults: readonly SignInFault[], target: SignInTarget): StatusPage => ({
  status: 403,
  page: renderMessagePage({
    title: `You cannot sign in with ${name}`,
    messages: faults.map((fault) => MESSAGES[fault](name)),
    link: linkToSignIn(target),
  }),
});

export const renderNoSignOutPage = (name: string): StatusPage => ({
  status: 404,
  page: renderMessagePage({
    title: 'No sign-out there',
    messages: [`${name} cannot be reached at the moment, or has no page to sign out. Close your browser to be safe.`],
    link: { path: '/sign-in', text: 'Sign in again' },
  }),
});

/** The browser has no cookie of a session there, or did not send it because another site led here. */
export const renderUnknownSessionPage = (name: string, id: string): StatusPage => ({
  status: 404,
  page: renderMessagePage({
    title: 'No sign-out there',
    messages: [
      `This browser has no session of ${name} that this server knows, or a page of another site led here. ` +
        `If you may be signed in at ${name}, sign out on its own page.`,
    ],
    link: { path: `/sign-in?left=${encodeURIComponent(id)}`, text: 'Sign in again' },
  }),
});
