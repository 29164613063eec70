/* Sends the answer of the identity provider on, so that the person need not press the button. */
document.querySelector('form[data-continue]').submit();
