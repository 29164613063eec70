import {
  html,
  renderField,
  renderNotice,
  renderHiddenField,
  renderPage,
  renderTime,
  trustHtml,
  type Html,
  type HtmlPage,
} from '#api/pages';
import type { MethodsOverview } from '../flow/accounts.queries.js';
import type { TotpSetup } from './account.service.js';
import type { PasskeyCeremony } from '../passkeys/passkey-ceremonies.service.js';
import type { PasskeyRow } from '../passkeys/passkeys.queries.js';
import type { AccountChangeRow } from '../notices/account-changes.js';
import { renderChanges } from './account-changes.renderer.js';
import { renderIdentities, type Linking } from './account-identities.renderer.js';
import { PASSKEY_SCRIPTS, renderPasskeyForm } from '../pages/sign-in.renderer.js';

type AccountSession = {
  readonly id: string;
  readonly method: string;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
};

type AccountPage = {
  readonly username: string;
  readonly methods: MethodsOverview;
  readonly passkeys: readonly PasskeyRow[];
  readonly sessions: readonly AccountSession[];
  readonly currentSession: string | null;
  /** Names of organizations that this sign-in does not open. */
  readonly closedOrganizations: readonly string[];
  readonly ceremony: PasskeyCeremony;
  readonly linking: Linking;
  readonly changes: readonly AccountChangeRow[];
  /** Whether the site requires a second factor, and the person has signed in without one. */
  readonly lacksSecondFactor: boolean;
  readonly error?: string | null;
  readonly done?: string | null;
};

const METHODS: Readonly<Record<string, string>> = {
  password: 'Password',
  passkey: 'Passkey',
  oidc: 'Identity provider',
  link: 'Sign-in link',
};

const renderPassword = ({ methods: { hasPassword } }: AccountPage): Html =>
  html` <section aria-labelledby="password-title">
    <h2 id="password-title">Password</h2>
    <form method="post" action="/account/password">
      ${renderField({
        name: 'password',
        label: hasPassword ? 'New password' : 'Password',
        type: 'password',
        autocomplete: 'new-password',
        hint: 'At least 12 characters. A few random words are good.',
      })}
      <button class="secondary">${hasPassword ? 'Change the password' : 'Set a password'}</button>
    </form>
    ${
      hasPassword &&
      html`<form method="post" action="/account/password/removal">
        <button class="danger">Remove the password</button>
      </form>`
    }
  </section>`;

const renderTotp = ({ methods: { hasTotp, recoveryCodes } }: AccountPage): Html =>
  html` <section aria-labelledby="totp-title">
    <h2 id="totp-title">One-time codes</h2>
    ${
      hasTotp
        ? html`<p>After the password you type a code that your app shows. ${recoveryCodes} recovery codes are left.</p>
            <div class="actions">
              <form method="post" action="/account/recovery-codes">
                <button class="secondary">Create new recovery codes</button>
              </form>
              <form method="post" action="/account/totp/removal">
                <button class="danger">Turn off one-time codes</button>
              </form>
            </div>`
        : html`<p>An app on your phone shows a code, which you type after your password.</p>
            <p><a class="button secondary" href="/account/totp">Set up one-time codes</a></p>`
    }
  </section>`;

const renderPasskey = ({ id, name, createdAt, lastUsedAt }: PasskeyRow): Html =>
  html` <tr>
    <td>
      <form class="actions" method="post" action="/account/passkeys/${id}">
        <input aria-label="Name of the passkey" name="name" value="${name}" maxlength="60" required />
        <button class="link">Rename</button>
      </form>
    </td>
    <td data-label="Added">${renderTime(createdAt)}</td>
    <td data-label="Last used">${renderTime(lastUsedAt)}</td>
    <td>
      <form method="post" action="/account/passkeys/${id}/removal"><button class="danger">Remove</button></form>
    </td>
  </tr>`;

const renderPasskeys = ({ passkeys, ceremony }: AccountPage): Html =>
  html` <section aria-labelledby="passkeys-title">
    <h2 id="passkeys-title">Passkeys</h2>
    <p>You sign in with your finger, your face or a PIN, on a device or with a security key. No password is needed.</p>
    ${
      passkeys.length > 0 &&
      html`<div class="table">
        <table>
          <thead>
            <tr>
              <th>Name</th>
              <th>Added</th>
              <th>Last used</th>
              <th></th>
            </tr>
          </thead>
          <tbody>
            ${passkeys.map(renderPasskey)}
          </tbody>
        </table>
      </div>`
    }
    ${renderPasskeyForm({
      kind: 'add',
      action: '/account/passkeys',
      button: 'Add a passkey',
      ceremony,
      fields: renderField({ name: 'name', label: 'Name of the new passkey', value: 'My device', maxlength: 60 }),
    })}
    <noscript><p class="muted">Passkeys need JavaScript.</p></noscript>
  </section>`;

const renderSession = (session: AccountSession, current: string | null): Html =>
  html` <tr>
    <td>${session.userAgent ?? 'Unknown program'}${session.id === current && html` <strong>(this one)</strong>`}</td>
    <td data-label="Signed in with">${METHODS[session.method] ?? session.method}</td>
    <td data-label="Address">${session.address ?? '–'}</td>
    <td data-label="Since">${renderTime(session.createdAt)}</td>
    <td data-label="Last used">${renderTime(session.lastUsedAt)}</td>
    <td>
      <form method="post" action="/account/sessions/${session.id}/end"><button class="danger">End</button></form>
    </td>
  </tr>`;

const renderSessions = ({ sessions, currentSession }: AccountPage): Html =>
  html` <section aria-labelledby="sessions-title">
    <h2 id="sessions-title">Where you are signed in</h2>
    <div class="table">
      <table>
        <thead>
          <tr>
            <th>Program</th>
            <th>Signed in with</th>
            <th>Address</th>
            <th>Since</th>
            <th>Last used</th>
            <th></th>
          </tr>
        </thead>
        <tbody>
          ${sessions.map((session) => renderSession(session, currentSession))}
        </tbody>
      </table>
    </div>
    <form method="post" action="/account/sessions/end"><button class="secondary">Sign out everywhere</button></form>
  </section>`;

const renderTokensLink = (): Html =>
  html` <section aria-labelledby="tokens-title">
    <h2 id="tokens-title">Tokens</h2>
    <p>Programs such as Terraform act as you with a token.</p>
    <p><a class="button secondary" href="/app/~account/tokens">See your tokens</a></p>
  </section>`;

const renderClosed = ({ closedOrganizations }: AccountPage): Html =>
  closedOrganizations.length === 0
    ? html``
    : renderNotice(
        'info',
        `You cannot work in ${closedOrganizations.join(', ')} at the moment. Sign in with a passkey, with a one-time ` +
          'code, or with the identity provider that the organization demands.',
      );

const renderSecondFactor = ({ lacksSecondFactor, methods, passkeys }: AccountPage): Html => {
  if (!lacksSecondFactor) return html``;
  if (!methods.hasTotp && passkeys.length === 0) {
    return renderNotice(
      'info',
      'This site requires a second factor. Add a passkey, or set a password and set up one-time codes. Until you sign in ' +
        'with it, nothing else works.',
    );
  }
  return html`${renderNotice('info', 'This site requires a second factor. Sign in again with yours to continue.')}
    <p><a class="button" href="/sign-in?confirm=1&amp;return_to=/app">Sign in with your second factor</a></p>`;
};

export const renderAccountPage = (page: AccountPage): HtmlPage =>
  renderPage({
    title: 'Your account',
    username: page.username,
    isWide: true,
    scripts: PASSKEY_SCRIPTS,
    body: html`
      ${renderNotice('error', page.error ?? null)} ${renderNotice('success', page.done ?? null)}
      ${renderSecondFactor(page)} ${renderClosed(page)} ${renderPasskeys(page)} ${renderPassword(page)}
      ${renderTotp(page)} ${renderIdentities(page.linking)} ${page.lacksSecondFactor ? null : renderTokensLink()}
      ${renderSessions(page)} ${renderChanges(page.changes)}
    `,
  });

type TotpPage = {
  readonly username: string;
  readonly setup: TotpSetup;
  /** SVG that the server has drawn. */
  readonly qrCode: string;
  readonly error?: string | null;
};

export const renderTotpPage = ({ username, setup, qrCode, error }: TotpPage): HtmlPage =>
  renderPage({
    title: 'Set up one-time codes',
    username,
    body: html`
      ${renderNotice('error', error ?? null)}
      <p>Scan this picture with an app for one-time codes.</p>
      <p class="qr-code" role="img" aria-label="QR code with the key">${trustHtml(qrCode)}</p>
      <p>Or type this key into the app: <code>${setup.secret.replaceAll(/(.{4})/g, '$1 ').trim()}</code></p>
      <form method="post" action="/account/totp">
        ${renderHiddenField('token', setup.token)}
        ${renderField({
          name: 'code',
          label: 'Code that the app shows now',
          autocomplete: 'one-time-code',
          inputmode: 'numeric',
          maxlength: 10,
          hasFocus: true,
        })}
        <button>Turn on one-time codes</button>
      </form>
      <p><a href="/account">Back to your account</a></p>
    `,
  });

export const renderRecoveryCodesPage = (username: string, codes: readonly string[]): HtmlPage =>
  renderPage({
    title: 'Your recovery codes',
    username,
    body: html`
      <p>Each code replaces your app once, for example if you lose your phone. Store them in a safe place.</p>
      ${renderNotice('info', 'They are shown only this time.')}
      <ul class="codes">
        ${codes.map((code) => html`<li>${code}</li>`)}
      </ul>
      <p><a class="button" href="/account">I have stored the codes</a></p>
    `,
  });
