#!/bin/sh
# aws.sh - start= and stop= of a machine of Amazon EC2 (docs/fleet.md)
#
#   pool l4 max=8 rate=0.80 start="deploy/fleet/aws.sh start REGION TEMPLATE" stop="deploy/fleet/aws.sh stop REGION"
#
# TEMPLATE is a launch template with the instance type, the image, the key pair
# and a security group that lets SSH in.  The acquisition is the client token,
# so that a repeated request makes no second machine, and a tag.  start prints
# the id as soon as it is known, for stop.  If start was killed before that,
# stop finds the machine by the token.  EC2 may know a machine only after some
# seconds, so stop looks again before it takes one for gone.
set -eu
region=${2:?usage: aws.sh start REGION TEMPLATE, or aws.sh stop REGION}
tag=${FA_ACQUISITION:?it is set by fa-coord}

start() {
    id=$(aws ec2 run-instances --region "$region" --launch-template "LaunchTemplateName=$1" --client-token "$tag" \
        --tag-specifications "ResourceType=instance,Tags=[{Key=fa-acquisition,Value=$tag}]" \
        --query 'Instances[0].InstanceId' --output text)
    echo "id=$id"
    aws ec2 wait instance-running --region "$region" --instance-ids "$id"
    address=$(aws ec2 describe-instances --region "$region" --instance-ids "$id" \
        --query 'Reservations[0].Instances[0].PublicIpAddress' --output text)
    echo "host=$address"
}

made() { # ids of what the token made and is not terminated
    aws ec2 describe-instances --region "$region" --filters "Name=client-token,Values=$tag" \
        Name=instance-state-name,Values=pending,running,stopping,stopped \
        --query 'Reservations[].Instances[].InstanceId' --output text
}

end() { # end ID: false if EC2 does not know it
    said=$(aws ec2 terminate-instances --region "$region" --instance-ids "$1" --output text 2>&1) && return 0
    case $said in
    *InvalidInstanceID.NotFound*) return 1 ;;
    *) echo "$said" >&2; exit 1 ;;
    esac
}

stop() {
    for pause in 1 2 4 8 0; do
        found=${FA_MACHINE:-$(made)}
        left=
        for id in $found; do
            end "$id" || left=$id
        done
        [ -z "$found" ] || [ -n "$left" ] || return 0
        sleep "$pause"
    done
}

case $1 in
start) start "${3:?usage: aws.sh start REGION TEMPLATE}" ;;
stop) stop ;;
*) echo "aws.sh: '$1' is not start or stop" >&2; exit 2 ;;
esac
