import { html, renderTime, type Html } from '#api/pages';
import { describeAccountChange, type AccountChangeRow } from '../notices/account-changes.js';

const renderChange = ({ type, time, address }: AccountChangeRow): Html =>
  html` <tr>
    <td>${describeAccountChange({ type })}</td>
    <td data-label="Address">${address ?? '–'}</td>
    <td data-label="Time">${renderTime(time)}</td>
  </tr>`;

/** Renders the last changes, so that a person notices a factor or token that somebody else has added. */
export const renderChanges = (changes: readonly AccountChangeRow[]): Html =>
  changes.length === 0
    ? html``
    : html` <section aria-labelledby="changes-title">
        <h2 id="changes-title">Recent changes</h2>
        <p>
          Did somebody else make one of these changes? Sign out everywhere, revoke tokens that you do not know, and ask
          an administrator to reset how you sign in.
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
