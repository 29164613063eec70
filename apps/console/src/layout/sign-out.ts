/** Ends the session and leaves the console. The form to sign out is one of the server (libs/identity/sign-in). */
export const signOut = (): void => {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = '/sign-out';
  form.hidden = true;
  document.body.append(form);
  form.submit();
};
