import { createStore } from '../store.js';

/* Tabs of the browser share a session. When it ends in one of them, the others show nothing any more. */

const signedOut = createStore(false);
const channel = new BroadcastChannel('cadastre-session');
channel.onmessage = () => signedOut.set(true);

/** Returns whether the person has signed out in another tab. */
export const useSignedOut = signedOut.useValue;

/** Ends the session and leaves the console. The form to sign out is one of the server (libs/identity/sign-in). */
export const signOut = (): void => {
  channel.postMessage('signed-out');
  const form = document.createElement('form');
  form.method = 'post';
  form.action = '/sign-out';
  form.hidden = true;
  document.body.append(form);
  form.submit();
};
