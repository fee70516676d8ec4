;;; hive-post.el --- Speaking in the shared buffer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; What the human posts goes through the outbox: it is on the disk before
;; anything is said, and reaches the store even if Emacs or the sidecar
;; dies.  Each message has an id of its own, so one that is sent twice is
;; one message.

;;; Code:

(require 'cl-lib)
(require 'hive-entry)
(require 'hive-handles)
(require 'hive-notify)
(require 'hive-outbox)
(require 'hive-place)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-shared-format)
(require 'hive-sidecar)
(require 'hive-template)
(require 'hive-text)

(defconst hive-post-most (* 32 1024) "A body has at most so many bytes.")

(defvar hive-post-history nil "Messages that were typed in the minibuffer.")

(defvar hive-post-stored-functions nil
  "Called with the id of a post and the sidecar's result: it is stored.
The result's :existing is non-nil when an equal message was there.")

(defvar hive-post-rejected-functions nil
  "Called with the id of a post and a sentence: it can never be stored.
A non-nil value means that the human has been told.")

;;;; Sending

(defun hive-post-check (body)
  "Signal an error unless BODY can be posted."
  (when (string-blank-p body)
    (user-error "There is nothing to post: write something first"))
  (when (> (string-bytes (encode-coding-string body 'utf-8)) hive-post-most)
    (user-error "This is too long to post: at most 32 KB; put the rest into a file and name it")))

(cl-defun hive-post-send (body &key place thread reply-to priority heading)
  "Post BODY, a string, and return the id of the message.
PLACE is a plist of `hive-place-of', or nil to speak to everyone.
THREAD, REPLY-TO and PRIORITY are those of the message.  HEADING,
a plist of :handle and :stamp, is that of a block: the name is
kept, and an equal message not repeated.  Its :origin says how the
block came here: \"typed\" or nil when you post it with a key,
\"inserted\" when a command of yours brought it, \"program\" when no
command did.  On return the message is on the disk."
  (hive-post-check body)
  (let ((id (concat "msg-" (hive-rpc-new-id)))
        (store (plist-get hive-sidecar-info :store_id)))
    (hive-outbox-add
     nil "message/post"
     `( :message_id ,id
        ;; The outbox knows its entries by this.
        :response_id ,id
        :body ,(hive-text-sendable body)
        :by ,(hive-human-name)
        ,@(hive-place-params place)
        ,@(when thread (list :thread (hive-text-sendable thread)))
        ,@(when reply-to (list :reply_to reply-to))
        ,@(when priority (list :priority priority))
        ,@(when heading
            (list :heading (list :handle (hive-text-sendable (plist-get heading :handle))
                                 :stamp (plist-get heading :stamp)
                                 :origin (or (plist-get heading :origin) "typed"))))
        ,@(when store (list :store_id store)))
     body)
    id))

(defun hive-post-address (message)
  "Return how an answer to MESSAGE, or to a mention, begins.
It mentions the author when that is an agent."
  (if (equal "agent" (plist-get message :author))
      (concat "@" (hive-text-line (plist-get message :from_handle)) " ")
    ""))

;;;; What became of it

(defun hive-post--told (result)
  "Return what the human should know from RESULT of a post, or nil."
  (let ((unresolved (append (plist-get result :unresolved) nil)))
    (when unresolved
      (mapconcat (lambda (one) (hive-text-line (plist-get one :sentence) 400)) unresolved " "))))

(defun hive-post--acked (entry result)
  "Tell what became of the post in ENTRY, according to RESULT."
  (when (equal (hive-entry-method entry) "message/post")
    (let ((told (hive-post--told result))
          (id (hive-entry-response-id entry)))
      (when told (hive-notify-say "Posted, but %s" told))
      (run-hook-with-args 'hive-post-stored-functions id result))))

(defun hive-post--rejected (entry)
  "Tell that the post in ENTRY cannot be stored, and keep its text at hand."
  (when (equal (hive-entry-method entry) "message/post")
    (let ((text (hive-text-line (hive-entry-text entry) 200))
          (id (hive-entry-response-id entry)))
      (unless (run-hook-with-args-until-success 'hive-post-rejected-functions id text)
        (kill-new (plist-get (hive-entry-params entry) :body))
        (hive-notify-say "Hive: your message was not taken: %s  (it is in the kill ring)"
                         text)))))

(add-hook 'hive-outbox-acked-functions #'hive-post--acked)
(add-hook 'hive-outbox-rejected-functions #'hive-post--rejected)

(defun hive-post-say-queued ()
  "Say that a message is on its way."
  (message (if (hive-sidecar-connected-p) "Hive: message queued"
             "Hive: message kept; it is posted as soon as the sidecar is there")))

;;;; Commands

(defvar hive-post-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map minibuffer-local-map)
    (define-key map (kbd "TAB") #'completion-at-point)
    map)
  "Keymap while a message is typed in the minibuffer.")

(defun hive-post-read (prompt place)
  "Read a message for PLACE under PROMPT; TAB completes handles.
\\<hive-post-map>\\[next-history-element] brings your `hive-reply-templates', one after the other."
  (let ((templates (hive-template-messages (plist-get place :project))))
    (minibuffer-with-setup-hook
        (lambda ()
          (setq hive-handles-project-dir (plist-get place :project_dir))
          (add-hook 'completion-at-point-functions #'hive-handles-complete nil t))
      (read-from-minibuffer (if templates
                                (concat (string-remove-suffix ": " prompt)
                                        " (M-n: templates): ")
                              prompt)
                            nil hive-post-map nil 'hive-post-history templates))))

(defun hive-post--where (place)
  "Return the name of PLACE, as it is put to the human."
  (hive-text-line (or (plist-get place :project) "everyone") 30))

;;;###autoload
(defun hive-post (body &optional everyone)
  "Post BODY to the shared buffer of the project you are in.
With a prefix argument EVERYONE, post to everyone, whatever their
project.  @HANDLE in it reaches that session, @All those of the
project; \\<hive-post-map>\\[completion-at-point] completes a handle.
See `hive-shared' for a buffer to write longer messages in."
  (interactive
   (list (hive-post-read (format "Post to %s: "
                                  (hive-post--where (unless current-prefix-arg (hive-place-of))))
                          (hive-place-of))
         current-prefix-arg))
  (hive-post-send body :place (unless everyone (hive-place-of)))
  (hive-post-say-queued))

;;;###autoload
(defun hive-mention (handle body)
  "Mention HANDLE, a session, a role or All, and tell it BODY.
The session is held up at its next tool call until it has dealt
with it, unless its mentions only remind."
  (interactive
   (let* ((place (hive-place-of))
          (handle (completing-read "Mention: "
                                   (hive-handles-table (plist-get place :project_dir)))))
     (list handle (hive-post-read (format "Tell @%s: " (hive-text-line handle 40)) place))))
  (when (string-blank-p handle) (user-error "Nobody was named"))
  (hive-post-check body)
  (let ((session (cl-find handle (hive-handles-sessions) :test #'equal
                          :key (lambda (session) (plist-get session :handle)))))
    (hive-post-send (format "@%s %s" (string-remove-prefix "@" handle) body)
                    :place (if session
                               (list :confirmed t
                                     :project (plist-get session :project)
                                     :project_dir (plist-get session :project_dir))
                             (hive-place-of))))
  (hive-post-say-queued))

(provide 'hive-post)
;;; hive-post.el ends here
