#!/bin/sh
# Creates a certificate authority and a certificate for the names that apps have hard-coded:
#
#     sh deploy/make-certificate.sh ./certificates db.fauna.com graphql.fauna.com
#
# The service needs server.pem and server-key.pem, the apps need ca.pem. Keep ca-key.pem private: its holder can impersonate
# any host to programs that trust ca.pem.
set -eu
folder=${1:?the folder to write to}
shift
[ $# -gt 0 ] || set -- db.fauna.com
name=$1
names=$(printf 'DNS:%s,' "$@")
mkdir -p "$folder"
cd "$folder"
umask 077
# The folder may be in a repository: exclude the private keys.
printf '%s\n' '*-key.pem' >.gitignore
[ -f ca.pem ] || openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -keyout ca-key.pem -out ca.pem \
  -subj "/CN=Terrarium of $(uname -n)" -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign
openssl req -newkey rsa:2048 -nodes -keyout server-key.pem -out server.csr -subj "/CN=$name"
printf 'subjectAltName=%sDNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n' "$names" >server.ext
openssl x509 -req -in server.csr -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 800 -extfile server.ext -out server.pem
rm server.csr server.ext
chmod 644 ca.pem server.pem
