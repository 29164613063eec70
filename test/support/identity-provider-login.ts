import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { InteractionResults, Provider } from 'oidc-provider';

export const LOGIN_PATH = '/login/';
const CANCEL = '?cancel';

const renderPage = (address: string): string => `<!doctype html>
<title>Log in</title>
<form method="post" action="${address}">
  <label>Login <input name="login" required></label>
  <label>Password <input name="password" type="password" required></label>
  <button>Log in</button>
</form>
<a href="${address}${CANCEL}">Cancel</a>`;

const CANCELLED = { error: 'access_denied', error_description: 'the person has cancelled' };

/** Answers the login page of the provider: anybody who names a login is that person. */
export const answerLogin = async (
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const finish = (result: InteractionResults): Promise<void> =>
    provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  const address = request.url ?? '';
  if (address.endsWith(CANCEL)) return finish(CANCELLED);
  if (request.method !== 'POST') {
    response.writeHead(200, { 'content-type': 'text/html' }).end(renderPage(address));
    return;
  }
  const accountId = new URLSearchParams(await text(request)).get('login') ?? '';
  await finish({ login: { accountId } });
};
