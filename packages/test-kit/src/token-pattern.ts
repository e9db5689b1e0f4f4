/** The first two parts of a signed token; three letters of them occur by chance in any long random text. */
export const tokenPattern = /eyJ[\w-]{10,}\.eyJ/;
