import type { Timestamp } from '#platform/kernel';
import { html, renderNotice, renderPage, renderTime, type HtmlPage } from '#api/pages';

type ConsentPage = {
  readonly username: string;
  /** Host and port of this server, as clients name it. */
  readonly host: string;
  /** The address of the program that asks. */
  readonly redirectUri: string;
  /** When the token will end; null for never. */
  readonly expiredAt: Timestamp | null;
  /** The path of this page with its query. */
  readonly path: string;
};

/** Asks a person whether a program on their computer gets a token. */
export const renderConsentPage = ({ username, host, redirectUri, expiredAt, path }: ConsentPage): HtmlPage => {
  const program = new URL(redirectUri);
  return renderPage({
    title: `Log in to ${host}?`,
    username,
    formTargets: [program.origin],
    body: html`
      ${renderNotice('info', 'Approve only if you have just run “terraform login” or “tofu login” on this computer.')}
      <dl>
        <dt>Server</dt>
        <dd>${host}</dd>
        <dt>Program</dt>
        <dd>Terraform or OpenTofu on this computer, at ${program.host}</dd>
        <dt>You</dt>
        <dd>
          <strong>${username}</strong>
          (<a href="/sign-in?switch=1&amp;return_to=${encodeURIComponent(path)}">use another account</a>)
        </dd>
        <dt>Access</dt>
        <dd>The program gets a token with which it can do everything that you may do.</dd>
        <dt>End</dt>
        <dd>
          ${expiredAt === null ? 'The token never ends.' : html`The token ends on ${renderTime(expiredAt)}.`} You can
          revoke it earlier on the page <a href="/app/~account/tokens">Your tokens</a>.
        </dd>
      </dl>
      <form method="post" action="${path}">
        <button name="decision" value="approve">Approve</button>
        <button class="secondary" name="decision" value="deny">Deny</button>
      </form>
    `,
  });
};
