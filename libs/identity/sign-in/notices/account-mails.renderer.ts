import { isIP } from 'node:net';
import { html, type Html } from '#api/pages';
import { describeAccountChange, type AccountChangeRow } from './account-changes.js';

/** The most changes that a mail lists. */
export const MAX_LISTED = 20;

type AccountMail = {
  /** The newest changes, at most `MAX_LISTED`. */
  readonly changes: readonly AccountChangeRow[];
  /** The number of all changes. */
  readonly total: number;
  readonly publicUrl: string;
};

/**
 * Returns the address without an IPv6 zone, which can be any text of the client, such as a host name. Mail programs turn
 * host names into links. A command of an operator has no address.
 */
const toPlainAddress = (address: string | null): string => {
  if (address === null) return 'none';
  const [plain = ''] = address.split('%');
  return isIP(plain) === 0 ? 'unknown' : plain;
};

const formatTime = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;

const ADVICE =
  'If you did not do this, sign out everywhere, revoke tokens that you do not know, and ask an administrator to reset ' +
  'how you sign in.';

/** The texts of a mail. `more`: how many changes are not listed; null if all are. */
type MailTexts = {
  readonly title: string;
  readonly rows: readonly { readonly what: string; readonly time: string; readonly address: string }[];
  readonly more: string | null;
  readonly account: string;
};

const renderText = ({ title, rows, more, account }: MailTexts): string =>
  [
    `${title}:`,
    '',
    ...rows.map(({ what, time, address }) => `- ${what}, ${time}, address ${address}`),
    ...(more === null ? [] : [more]),
    '',
    ADVICE,
    '',
    account,
    '',
  ].join('\n');

const renderHtml = ({ title, rows, more, account }: MailTexts): Html =>
  html`<!doctype html>
    <html lang="en">
      <body style="font-family: sans-serif">
        <h1 style="font-size: 1.2em">${title}</h1>
        <table>
          ${rows.map(
            ({ what, time, address }) =>
              html`<tr>
                <td>${what}</td>
                <td>${time}</td>
                <td>${address}</td>
              </tr>`,
          )}
        </table>
        ${more !== null && html`<p>${more}</p>`}
        <p>${ADVICE}</p>
        <p><a href="${account}">Your account</a></p>
      </body>
    </html>`;

/**
 * Returns the mail about changes of an account as plain text and as HTML. It contains texts of this file, times and
 * addresses of computers only: no name, description or program that a person chose, and no secret.
 */
export const renderAccountMail = ({ changes, total, publicUrl }: AccountMail) => {
  const { host } = new URL(publicUrl);
  const [first] = changes;
  const what = total === 1 && first ? describeAccountChange(first) : `${total} changes`;
  const texts: MailTexts = {
    title: `Your account at ${host} has changed`,
    rows: changes.map((change) => ({
      what: describeAccountChange(change),
      time: formatTime(change.time),
      address: toPlainAddress(change.address),
    })),
    more: total > changes.length ? `And ${total - changes.length} earlier changes.` : null,
    account: `${publicUrl}/account`,
  };
  return { subject: `Your account at ${host}: ${what}`, text: renderText(texts), html: renderHtml(texts).toString() };
};
