import { html, renderTime, type Html } from '#api/pages';
import type { SignInOption } from '../flow/sign-in-options.js';
import type { LinkedIdentityRow } from '../identities/linked-identities.view.js';

/** `linkToken` proves that the page of this person led to the start of a link. */
export type Linking = {
  readonly identities: readonly LinkedIdentityRow[];
  readonly options: readonly SignInOption[];
  readonly linkToken: string;
};

const renderIdentity = ({ id, issuer, createdAt }: LinkedIdentityRow, options: readonly SignInOption[]): Html => {
  const option = options.find((one) => one.issuer === issuer);
  return html` <tr>
    <td>${option?.name ?? issuer}${!option && html` <span class="muted">(not in use here)</span>`}</td>
    <td data-label="Linked">${renderTime(createdAt)}</td>
    <td>
      <form method="post" action="/account/identities/${id}/removal"><button class="danger">Unlink</button></form>
    </td>
  </tr>`;
};

/** A link and no form: browsers check every address to which a form leads, and providers lead to further ones. */
const renderLinkStart = ({ name, linkPath }: SignInOption, linkToken: string): Html =>
  html`<a class="button secondary" href="${linkPath}?token=${linkToken}">Link ${name}</a>`;

/** Returns the section of the account page; nothing without providers. */
export const renderIdentities = ({ identities, options, linkToken }: Linking): Html => {
  if (identities.length === 0 && options.length === 0) return html``;
  const linkable = options.filter(({ issuer }) => !identities.some((identity) => identity.issuer === issuer));
  return html` <section aria-labelledby="identities-title">
    <h2 id="identities-title">Identity providers</h2>
    <p>You sign in with an account that you have elsewhere, such as that of your company.</p>
    ${
      identities.length > 0 &&
      html`<div class="table">
        <table>
          <thead>
            <tr>
              <th>Provider</th>
              <th>Linked</th>
              <th></th>
            </tr>
          </thead>
          <tbody>
            ${identities.map((identity) => renderIdentity(identity, options))}
          </tbody>
        </table>
      </div>`
    }
    ${
      linkable.length > 0 &&
      html`<div class="actions">${linkable.map((option) => renderLinkStart(option, linkToken))}</div>`
    }
  </section>`;
};
