/* Lets forms with `data-passkey` ask the browser for a passkey before they are sent. Without scripts they stay hidden. */
const { browserSupportsWebAuthn, startAuthentication, startRegistration } = globalThis.SimpleWebAuthnBrowser;

const answerChallenge = (form) => {
  const optionsJSON = JSON.parse(form.dataset.options);
  return form.dataset.passkey === 'add' ? startRegistration({ optionsJSON }) : startAuthentication({ optionsJSON });
};

const describeError = ({ name }) =>
  name === 'InvalidStateError'
    ? 'This device has a passkey of your account already.'
    : 'The passkey was not used. You can try again, or choose another way.';

for (const form of document.querySelectorAll('form[data-passkey]')) {
  if (!browserSupportsWebAuthn()) continue;
  form.hidden = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const message = form.querySelector('[role=alert]');
    message.hidden = true;
    try {
      form.elements.namedItem('response').value = JSON.stringify(await answerChallenge(form));
      form.submit();
    } catch (error) {
      message.textContent = describeError(error);
      message.hidden = false;
    }
  });
}
