import { TOKEN_ACCESS, UNRESTRICTED, type TokenAccess } from '#api/access';
import {
  html,
  renderChoices,
  renderField,
  renderNotice,
  renderPage,
  renderTime,
  type Html,
  type HtmlPage,
} from '#api/pages';
import type { IssuedToken, RestrictionInput, TokenRow } from '#identity/people';

export const DESCRIPTION_MAX = 200;
export const ORGANIZATION_MAX = 100;

/** Page numbers of the list, from 1; null if there is no such page. */
type TokenPages = { readonly newer: number | null; readonly older: number | null };

type TokensPage = {
  readonly username: string;
  readonly tokens: readonly TokenRow[];
  readonly pages: TokenPages;
  readonly error?: string | null;
  readonly done?: string | null;
  /** The initial values of the fields. */
  readonly description?: string;
  readonly restriction?: RestrictionInput;
};

const ACCESS_LABELS = {
  full: 'Everything that you may do',
  'read-only': 'Read only: the token reads what you may read, and changes nothing',
  'audit-only': 'Audit trails only: the token reads the audit trails that you may read, and nothing else',
} as const satisfies Record<TokenAccess, string>;

const SHORT_ACCESS = {
  full: 'everything',
  'read-only': 'read only',
  'audit-only': 'audit trails only',
} as const satisfies Record<TokenAccess, string>;

const describeAccess = ({ access, onlyOrganization }: TokenRow): string =>
  onlyOrganization === null ? SHORT_ACCESS[access] : `${SHORT_ACCESS[access]}, in ${onlyOrganization}`;

const renderToken = (token: TokenRow): Html => {
  const { id, description, createdAt, lastUsedAt, expiredAt } = token;
  return html` <tr>
    <td>${description ?? '–'}</td>
    <td data-label="Access">${describeAccess(token)}</td>
    <td data-label="Created">${renderTime(createdAt)}</td>
    <td data-label="Last used">${lastUsedAt === null ? 'never' : renderTime(lastUsedAt)}</td>
    <td data-label="Ends">${expiredAt === null ? 'never' : renderTime(expiredAt)}</td>
    <td>
      <form method="post" action="/account/tokens/${id}/revocation"><button class="danger">Revoke</button></form>
    </td>
  </tr>`;
};

const renderPageLink = (page: number | null, text: string): Html | null =>
  page === null ? null : html`<a href="/account/tokens?page%5Bnumber%5D=${page}">${text}</a>`;

const renderTokens = ({ tokens, pages: { newer, older } }: TokensPage): Html =>
  tokens.length === 0
    ? html`<p>You have no tokens.</p>`
    : html`<div class="table">
          <table>
            <thead>
              <tr>
                <th>Description</th>
                <th>Access</th>
                <th>Created</th>
                <th>Last used</th>
                <th>Ends</th>
                <th></th>
              </tr>
            </thead>
            <tbody>
              ${tokens.map(renderToken)}
            </tbody>
          </table>
        </div>
        ${
          (newer !== null || older !== null) &&
          html`<p class="actions">${renderPageLink(newer, 'Newer tokens')} ${renderPageLink(older, 'Older tokens')}</p>`
        }`;

const renderForm = ({ description, restriction: { access, organization } = UNRESTRICTED }: TokensPage): Html =>
  html` <form method="post" action="/account/tokens">
    ${renderField({
      name: 'description',
      label: 'Description',
      hint: 'A text by which you recognize the token later, such as the name of the computer.',
      maxlength: DESCRIPTION_MAX,
      value: description ?? '',
    })}
    ${renderChoices({
      name: 'access',
      legend: 'Access',
      choices: TOKEN_ACCESS.map((value) => ({ value, label: ACCESS_LABELS[value] })),
      selected: access,
    })}
    ${renderField({
      name: 'organization',
      label: 'Only in this organization',
      hint: 'The name of one of your organizations. Without a name, the token has access to all of them.',
      maxlength: ORGANIZATION_MAX,
      value: organization ?? '',
      isOptional: true,
    })}
    <button class="secondary">Create a token</button>
  </form>`;

export const renderTokensPage = (page: TokensPage): HtmlPage =>
  renderPage({
    title: 'Your tokens',
    username: page.username,
    isWide: true,
    body: html`
      ${renderNotice('error', page.error ?? null)} ${renderNotice('success', page.done ?? null)}
      <section aria-labelledby="tokens-title">
        <h2 id="tokens-title">Programs that can act as you</h2>
        <p>
          A token lets a program do everything that you may do, unless you restrict it.
          <code>terraform login</code> creates a token for each login. If you revoke a token, programs that use it lose
          their access at once.
        </p>
        ${renderTokens(page)}
      </section>
      <section aria-labelledby="new-token-title">
        <h2 id="new-token-title">New token</h2>
        <p>Create a token for a computer without a browser, or for a program that you paste it into.</p>
        ${renderForm(page)}
      </section>
      <p><a href="/account">Back to your account</a></p>
    `,
  });

type NewTokenPage = {
  readonly username: string;
  /** Host and port of the server, as clients name it. */
  readonly host: string;
  readonly token: IssuedToken;
};

const formatCredentials = (host: string, token: string): string =>
  JSON.stringify({ credentials: { [host]: { token } } }, null, 2);

export const renderNewTokenPage = ({ username, host, token }: NewTokenPage): HtmlPage =>
  renderPage({
    title: 'Your new token',
    username,
    isWide: true,
    body: html`
      ${renderNotice('info', 'The token is shown only this time. Copy it now.')}
      <section aria-labelledby="token-title">
        <h2 id="token-title">${token.description ?? 'Token'}</h2>
        <pre class="secret"><code>${token.secret}</code></pre>
        <p>Access: ${describeAccess(token)}.</p>
        <p>${token.expiredAt === null ? 'It never ends.' : html`It ends on ${renderTime(token.expiredAt)}.`}</p>
      </section>
      ${
        // Terraform cannot use a token that only reads audit trails.
        token.access !== 'audit-only' &&
        html`<section aria-labelledby="file-title">
          <h2 id="file-title">For Terraform and OpenTofu</h2>
          <p>Put this into the file <code>~/.terraform.d/credentials.tfrc.json</code>:</p>
          <pre><code>${formatCredentials(host, token.secret)}</code></pre>
        </section>`
      }
      <p><a class="button" href="/account/tokens">I have copied the token</a></p>
    `,
  });
