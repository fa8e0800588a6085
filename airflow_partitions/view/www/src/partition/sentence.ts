/** The words with which the server's own sentences begin, but those that begin with the name of somebody who did it. */
const BEGIN = /^(?:an?|all|its?|no|partition|run|task|that|the) (?!(?:forgot|marked|took) it )/;

/** A reason with a capital at its begin; a name, a key or a number that it begins with stays as it is. */
export const sentence = (reason: string): string =>
  BEGIN.test(reason) ? reason.charAt(0).toUpperCase() + reason.slice(1) : reason;
