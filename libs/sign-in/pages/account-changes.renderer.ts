import { html, renderTime, type Html } from '#pages';
import type { MethodChangeRow } from '../methods/method-changes.queries.js';

const CHANGES: Readonly<Record<MethodChangeRow['type'], string>> = {
  PasswordSet: 'The password was set',
  PasswordRemoved: 'The password was removed',
  TotpEnabled: 'One-time codes were turned on',
  TotpDisabled: 'One-time codes were turned off',
  RecoveryCodesCreated: 'Recovery codes were created',
  RecoveryCodeUsed: 'A recovery code was used',
  PasskeyAdded: 'A passkey was added',
  PasskeyRemoved: 'A passkey was removed',
  IdentityLinked: 'An identity provider was linked',
  IdentityUnlinked: 'An identity provider was unlinked',
  SignInLinkCreated: 'An operator created a sign-in link',
  SignInMethodsReset: 'All ways to sign in were reset',
};

const renderChange = ({ type, time, address }: MethodChangeRow): Html =>
  html` <tr>
    <td>${CHANGES[type]}</td>
    <td data-label="Address">${address ?? '–'}</td>
    <td data-label="Time">${renderTime(time)}</td>
  </tr>`;

/** Renders the last changes, so that a person notices a factor that somebody else has added. */
export const renderChanges = (changes: readonly MethodChangeRow[]): Html =>
  changes.length === 0
    ? html``
    : html` <section aria-labelledby="changes-title">
        <h2 id="changes-title">Recent changes</h2>
        <p>
          Did somebody else make one of these changes? Sign out everywhere, and ask an administrator to reset how you
          sign in.
        </p>
        <div class="table">
          <table>
            <thead>
              <tr>
                <th>Change</th>
                <th>Address</th>
                <th>Time</th>
              </tr>
            </thead>
            <tbody>
              ${changes.map(renderChange)}
            </tbody>
          </table>
        </div>
      </section>`;
