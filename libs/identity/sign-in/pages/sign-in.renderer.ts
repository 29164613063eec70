import { html, renderField, renderHiddenField, renderNotice, renderPage, type Html, type HtmlPage } from '#api/pages';
import type { PasskeyCeremony } from '../passkeys/passkey-ceremonies.service.js';
import type { UsableLink } from '../links/sign-in-links.operator.js';
import type { SignInOption } from '../flow/sign-in-options.js';

/** Scripts of pages with passkeys. All other parts of the pages work without them. */
export const PASSKEY_SCRIPTS = ['/sign-in/webauthn.js', '/sign-in/passkeys.js'] as const;

type PasskeyForm = {
  readonly kind: 'use' | 'add';
  readonly action: string;
  readonly button: string;
  readonly ceremony: PasskeyCeremony;
  /** Fields besides those of the ceremony. */
  readonly fields?: Html;
};

/** Returns a form that the script shows if the browser supports passkeys. */
export const renderPasskeyForm = ({ kind, action, button, ceremony, fields }: PasskeyForm): Html =>
  html` <form method="post" action="${action}" data-passkey="${kind}" data-options="${ceremony.options}" hidden>
    <p class="notice error" role="alert" hidden></p>
    ${renderHiddenField('token', ceremony.token)} ${renderHiddenField('response', '')} ${fields ?? null}
    <button class="secondary">${button}</button>
  </form>`;

export type SignInPage = {
  readonly ceremony: PasskeyCeremony;
  readonly options: readonly SignInOption[];
  readonly returnTo: string | null;
  readonly login?: string;
  readonly error?: string | null;
  /** Whether a person with a session proves again who they are. */
  readonly isConfirmation?: boolean;
  /** Whether the browser sends the cookie of a session that no longer counts. */
  readonly hasEnded?: boolean;
  readonly hasPasswords: boolean;
  /** The identity provider of the session that the person has just ended here. */
  readonly leftOption?: SignInOption | null;
};

const renderProviderSignOut = ({ name, signOutPath }: SignInOption): Html =>
  html`<p class="notice info" role="status">
    You are signed out here. <a href="${signOutPath}">Sign out at ${name} too</a>
  </p>`;

const renderOption = ({ name, path }: SignInOption, { returnTo, isConfirmation = false }: SignInPage): Html => {
  const query = new URLSearchParams({
    ...(returnTo === null ? {} : { return_to: returnTo }),
    ...(isConfirmation ? { confirm: '1' } : {}),
  }).toString();
  return html` <p>
    <a class="button secondary" href="${query === '' ? path : `${path}?${query}`}">Continue with ${name}</a>
  </p>`;
};

const renderPasswordForm = ({ returnTo, login, error }: SignInPage): Html =>
  html` <form method="post" action="/sign-in">
    ${renderNotice('error', error ?? null)} ${renderHiddenField('return_to', returnTo)}
    ${renderField({
      name: 'login',
      label: 'User name or e-mail address',
      autocomplete: 'username webauthn',
      value: login ?? '',
      maxlength: 254,
      hasFocus: true,
    })}
    ${renderField({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
    <button>Sign in</button>
  </form>`;

export const renderSignInPage = (page: SignInPage): HtmlPage =>
  renderPage({
    title: page.isConfirmation ? 'Confirm that it is you' : 'Sign in',
    scripts: PASSKEY_SCRIPTS,
    body: html`
      ${renderNotice(
        'info',
        page.isConfirmation
          ? 'You change how you sign in. For this you need to have signed in a short time ago.'
          : null,
      )}
      ${renderNotice('info', page.hasEnded === true ? 'Your session has ended. Sign in again.' : null)}
      ${page.leftOption && renderProviderSignOut(page.leftOption)}
      ${page.hasPasswords ? renderPasswordForm(page) : renderNotice('error', page.error ?? null)}
      ${renderPasskeyForm({
        kind: 'use',
        action: '/sign-in/passkey',
        button: 'Sign in with a passkey',
        ceremony: page.ceremony,
        fields: renderHiddenField('return_to', page.returnTo),
      })}
      ${page.options.map((option) => renderOption(option, page))}
      <p class="muted">
        You have no account, or cannot sign in? The operator of this server can send you a sign-in link.
      </p>
    `,
  });

type SecondFactorPage = { readonly returnTo: string | null; readonly error?: string | null };

export const renderSecondFactorPage = ({ returnTo, error }: SecondFactorPage): HtmlPage =>
  renderPage({
    title: 'One more step',
    body: html`
      <form method="post" action="/sign-in/second-factor">
        ${renderNotice('error', error ?? null)} ${renderHiddenField('return_to', returnTo)}
        ${renderField({
          name: 'code',
          label: 'One-time code',
          autocomplete: 'one-time-code',
          hint: 'The six digits that your app shows now, or one of your recovery codes.',
          maxlength: 40,
          hasFocus: true,
        })}
        <button>Continue</button>
      </form>
      <p><a href="/sign-in">Use another sign-in method</a></p>
    `,
  });

type LinkPage = Pick<UsableLink, 'resetsMethods' | 'revokesTokens'> & {
  readonly secret: string;
  readonly returnTo: string | null;
};

/** Programs that show previews of links open them, so opening the link does not use it up. */
export const renderLinkPage = ({ secret, resetsMethods, revokesTokens, returnTo }: LinkPage): HtmlPage =>
  renderPage({
    title: 'Sign in with your link',
    body: html`
      <p>This link signs you in once. It ends 15 minutes after it was created.</p>
      ${renderNotice(
        'info',
        resetsMethods
          ? 'It removes your password, your one-time codes and your passkeys, unlinks your identity providers, and ends your other sessions. You can add new ones afterwards.'
          : null,
      )}
      ${renderNotice('info', revokesTokens ? 'It also revokes all your tokens.' : null)}
      <form method="post" action="/sign-in/link">
        ${renderHiddenField('secret', secret)} ${renderHiddenField('return_to', returnTo)}
        <button>Sign in</button>
      </form>
    `,
  });
