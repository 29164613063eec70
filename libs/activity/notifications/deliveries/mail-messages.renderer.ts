import { html } from '#api/pages';
import { listFacts } from './payloads.js';
import type { Notice } from './notices.js';

/** The content of an e-mail. The subject has one line. */
type MailMessage = { readonly subject: string; readonly text: string; readonly html: string };

const MAX_SUBJECT_CHARACTERS = 200;

/**
 * Returns the text on one line, so that texts of callers add neither headers nor lines that look like ours. Invisible
 * characters, which could reverse what is shown, become spaces.
 */
const toLine = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();

const renderSubject = ({ message, organizationName, workspace }: Notice): string => {
  const subject = toLine(workspace ? `[${organizationName}/${workspace.name}] ${message}` : message);
  return subject.length <= MAX_SUBJECT_CHARACTERS
    ? subject
    : `${subject.slice(0, MAX_SUBJECT_CHARACTERS).toWellFormed()}…`;
};

const renderReason = (configuration: string): string =>
  `You get this e-mail because the notification configuration ${configuration} names you. People who can change the settings of ` +
  'its workspace, team or organization can remove you.';

/** Returns the message as plain text and as HTML. Every text of a caller is on one line and escaped. */
export const renderMail = (notice: Notice): MailMessage => {
  const facts = listFacts(notice).map(({ title, value }) => ({ title, value: toLine(value) }));
  const message = toLine(notice.message);
  const reason = renderReason(notice.configuration);
  const text = [
    message,
    '',
    ...facts.map(({ title, value }) => `${title}: ${value}`),
    ...(notice.run ? ['', `Show run: ${notice.run.url}`] : []),
    '',
    '-- ',
    reason,
    '',
  ].join('\n');
  const page = html`<!doctype html>
    <html lang="en">
      <body style="font-family: sans-serif">
        <h1 style="font-size: 1.2em">${message}</h1>
        <table>
          ${facts.map(
            ({ title, value }) =>
              html`<tr>
                <th align="left" valign="top">${title}</th>
                <td>${value}</td>
              </tr>`,
          )}
        </table>
        ${notice.run && html`<p><a href="${notice.run.url}">Show run</a></p>`}
        <p style="color: #666; font-size: 0.85em">${reason}</p>
      </body>
    </html>`;
  return { subject: renderSubject(notice), text, html: page.toString() };
};
