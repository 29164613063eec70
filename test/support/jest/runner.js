import runner from 'jest-light-runner/child-process';
import Tinypool from 'tinypool';

/**
 * When one worker requests the settings, jest-light-runner sends them to every worker that has a file, and never again.
 * A worker that does not listen yet loses them, and its file hangs. Here every request gets a response.
 */
const answerEveryRequest = (channel) => {
  const listeners = new Set();
  return {
    onMessage: (listener) => void listeners.add(listener),
    postMessage: (message) => {
      for (const listener of listeners) channel.onMessage(listener);
      channel.postMessage(message);
    },
  };
};

const channels = new WeakMap();

const run = Reflect.get(Tinypool.prototype, 'run');
Tinypool.prototype.run = function (task, options) {
  const { channel } = options;
  if (!channels.has(channel)) channels.set(channel, answerEveryRequest(channel));
  // Tinypool's types do not tell what a task returns.
  const result = Reflect.apply(run, this, [task, { ...options, channel: channels.get(channel) }]);
  return /** @type {Promise<unknown>} */ (result);
};

export default runner;
