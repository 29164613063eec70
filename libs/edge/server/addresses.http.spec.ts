import { describe, expect, it } from '@jest/globals';
import { escapeAddress } from './addresses.http.js';

describe('an address in a link', () => {
  it.each([
    ['/a?filter[tagged][0][key]=a%26b&q=%5B', '/a?filter%5Btagged%5D%5B0%5D%5Bkey%5D=a%26b&q=%5B'],
    ['/a/"<{|^`}>"', '/a/%22%3C%7B%7C%5E%60%7D%3E%22'],
    ['/a?q=100%&b=%4&c=\u00e9#', '/a?q=100%25&b=%254&c=%E9%23'],
    ["/a-b_c.d~e!$&'()*+,;=:@/?f", "/a-b_c.d~e!$&'()*+,;=:@/?f"],
  ])('%s is written as %s', (address, escaped) => {
    expect(escapeAddress(address)).toBe(escaped);
  });
});
