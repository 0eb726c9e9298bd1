/** Sets the numbers of a sentence in the face that lines up. */

const NUMBER = /((?<![\w.])\d+(?:[,.×:]\d+)*(?!\w))/;

export function withNumbers(text: string) {
  return text.split(NUMBER).map((part, k) => (k % 2 ? <span class="num">{part}</span> : part));
}
