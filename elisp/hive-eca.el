;;; hive-eca.el --- The chats of ECA in Hive  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Every chat of ECA is in the list of Hive, and the approvals and questions of
;; its agent can be answered in its buffer or at a desk.  `hive-mode' turns this
;; on once ECA is loaded; ECA itself is not required.
;;
;; ECA has no hook that reports open dialogs, or the end of its server.  So
;; three of its functions are advised: Hive looks at what they were given once
;; they have handled it.  The server of ECA tells all its clients what was
;; approved, so the buffer is updated by itself.

;;; Code:

(require 'cl-lib)
(require 'hive-editors)
(require 'hive-messages)
(require 'hive-rpc)
(require 'hive-text)
(require 'seq)

(defvar eca-chat-session-status-changed-functions)
(declare-function eca-api-notify "ext:eca-api")
(declare-function eca-api-send-request-response "ext:eca-api")
(declare-function eca-chat-buffers "ext:eca-chat")
(declare-function eca-chat-send-prompt "ext:eca-chat")
(declare-function eca-chat-status "ext:eca-chat")

;;;; Private names and advised functions

(defconst hive-eca-private
  '((eca-chat--id "98ac99a" "which buffer shows a chat")
    (eca-chat--answer-question "98ac99a" "answers a question and tidies its buffer")
    (eca-chat--cancel-question "98ac99a" "declines a question and tidies its buffer")
    (eca-chat--set-prompt "98ac99a" "empties the prompt once something was sent")
    (eca-chat--prompt-field-start-point "98ac99a" "where the text of the prompt begins"))
  "The private names of ECA that are used where they exist.
Each with the version in which it was seen, and what it is for.")

(defconst hive-eca-advised
  '((eca-chat-content-received "98ac99a" hive-eca--received)
    (eca-chat-handle-ask-question "98ac99a" hive-eca--question-received)
    (eca-delete-session "98ac99a" hive-eca--session-ended))
  "The functions of ECA that are advised.
Each with the version in which it was seen, and what is called after it.")

(defun hive-eca--private (name)
  "Return NAME, a private name of ECA, if it exists here."
  (hive-editor-private name hive-eca-private))

;;;; The agent of a chat

(defvar-local hive-eca--agent nil "The agent of this chat, a `hive-editor'.")
(defvar-local hive-eca--chat nil "The session of ECA and the id of this chat, a cons.")
(defvar-local hive-eca--keys nil "Conses of the id of a tool call, or the request of a question, and a key.")
(defvar-local hive-eca--asked nil "The request of the question that this buffer shows, the newest one.")
(defvar-local hive-eca--later nil "Prompts for the agent once its turn has ended, oldest first.")
(defvar-local hive-eca--stopped nil "Non-nil if the turn was stopped from Hive.")
(defvar hive-eca--count 0 "How many dialogs were offered.")

(defun hive-eca--buffer (session chat-id)
  "Return the buffer of the chat CHAT-ID of SESSION, or nil."
  (let ((buffers (eca-chat-buffers session))
        (private (hive-eca--private 'eca-chat--id)))
    (if private
        (seq-find (lambda (buffer) (equal chat-id (buffer-local-value private buffer))) buffers)
      (and (null (cdr buffers)) (car buffers)))))

(defun hive-eca--attach (session chat-id)
  "Connect the agent of this buffer, the chat CHAT-ID of SESSION, once."
  (unless hive-eca--agent
    (setq hive-eca--chat (cons session chat-id)
          hive-eca--agent
          (hive-editor-add :id (hive-editor-new-id) :buffer (current-buffer)
                           :client "ECA" :directory default-directory
                           :interrupt #'hive-eca--interrupt
                           :say #'hive-eca--say))
    (add-hook 'kill-buffer-hook #'hive-eca--detach nil t)))

(defun hive-eca--detach ()
  "Disconnect the agent of this buffer."
  (when hive-eca--agent
    (remove-hook 'kill-buffer-hook #'hive-eca--detach t)
    (hive-editor-remove hive-eca--agent)
    (setq hive-eca--agent nil hive-eca--chat nil hive-eca--keys nil hive-eca--asked nil
          hive-eca--later nil)))

(defun hive-eca--interrupt ()
  "Stop the turn of this buffer."
  (setq hive-eca--stopped t)
  (pcase-let ((`(,session . ,chat-id) hive-eca--chat))
    (eca-api-notify session :method "chat/promptStop" :params (list :chatId chat-id))))

(defun hive-eca--say (text)
  "Give the agent of this buffer TEXT as a prompt, after its turn if it is busy."
  (cond ((not (eq 'idle (eca-chat-status (current-buffer))))
         (setq hive-eca--later (append hive-eca--later (list text))))
        ;; ECA gives it to the chat that was visited last, which may be another.
        ((cdr (eca-chat-buffers (car hive-eca--chat)))
         (hive-announce "ECA has several chats open, so Hive passed this to none of them: %s"
                        (hive-text-line text 80)))
        (t (hive-eca--undisturbed #'eca-chat-send-prompt text))))

(defun hive-eca--undisturbed (function text)
  "Call FUNCTION with TEXT, and leave what a person is writing in this chat.
ECA empties its prompt when it sends one, or an answer, and the first prompt
erases the whole chat."
  (let* ((set (hive-eca--private 'eca-chat--set-prompt))
         (set-prompt (and set (symbol-function set)))
         (typed (and set (hive-eca--typed)))
         (places (and typed (hive-eca--places))))
    (if (null set) (funcall function text)
      (cl-letf (((symbol-function set) #'ignore)) (funcall function text))
      (when (and typed (not (equal typed (hive-eca--typed))))
        (funcall set-prompt typed)
        (hive-eca--put-back places)))))

(defun hive-eca--prompt-start ()
  "Return where the text of the prompt of this chat begins, or nil."
  (when-let* ((start (hive-eca--private 'eca-chat--prompt-field-start-point)))
    (funcall start)))

(defun hive-eca--typed ()
  "Return the text in the prompt of this chat, or nil if it is unknown."
  (when-let* ((start (hive-eca--prompt-start))) (buffer-substring start (point-max))))

(defun hive-eca--places ()
  "Return the places in the prompt of this buffer and its windows.
Each is a cons of a window, or nil for the buffer, and its distance to the end."
  (cl-loop for (window . point) in
           (cons (cons nil (point))
                 (mapcar (lambda (window) (cons window (window-point window)))
                         (get-buffer-window-list nil nil t)))
           when (>= point (hive-eca--prompt-start)) collect (cons window (- (point-max) point))))

(defun hive-eca--put-back (places)
  "Go back to PLACES, of `hive-eca--places'."
  (pcase-dolist (`(,window . ,from-end) places)
    (let ((place (- (point-max) from-end)))
      (if window (set-window-point window place) (goto-char place)))))

;;;; Approvals

(defun hive-eca--options (details)
  "Return the options that ECA has for an approval with DETAILS.
It remembers only some of the commands of a shell command, or none."
  (let* ((shell (equal "shellCommand" (plist-get details :type)))
         (keys (cl-loop for command in (append (plist-get details :commands) nil)
                        for key = (plist-get command :approvalKey)
                        when (and key (not (hive-rpc-true-p command :remembered))) collect key))
         (remembered (string-join (seq-uniq keys) ", ")))
    `(("accept" "Accept" "This once" nil t)
      ,@(unless (and shell (null keys))
          `(("remember" "Accept and remember"
             ,(if shell (format "Each %s for the rest of this session" remembered)
                "For the rest of this session")
             nil nil)))
      ("reject" "Reject" "Refuse this once" t t))))

(defun hive-eca--tool (content)
  "Return the name of the tool of CONTENT, with its MCP server if it has one."
  (let ((server (plist-get content :server)) (name (plist-get content :name)))
    (if (member server '(nil "" "eca")) name (format "%s__%s" server name))))

(defun hive-eca--params (content)
  "Return the parameters of `dialog/open' for CONTENT, a tool call."
  (let ((details (plist-get content :details)))
    (list :tool (hive-eca--tool content)
          :input (hive-editor-input (plist-get content :arguments))
          :header (plist-get content :summary)
          :rest (if details (hive-editor-json (list :details details)) (make-hash-table))
          :options (vconcat (mapcar (lambda (option) (apply #'hive-editor-option option))
                                    (hive-eca--options details)))
          :takes_notes t)))

(defun hive-eca--open (id params answer)
  "Offer the dialog ID of this buffer with PARAMS; ANSWER gives its answer."
  (let ((key (format "%s %s" (hive-editor-id hive-eca--agent) (cl-incf hive-eca--count))))
    (hive-editor-begin hive-eca--agent)
    (push (cons id key) hive-eca--keys)
    (hive-editor-open hive-eca--agent key params answer)))

(defun hive-eca--withdraw (id &optional decision)
  "Withdraw the dialog ID of this buffer, answered here with DECISION."
  (when-let* ((open (assoc id hive-eca--keys)))
    (setq hive-eca--keys (delq open hive-eca--keys))
    (hive-editor-close (cdr open) "answered_elsewhere" decision)))

(defun hive-eca--approve (session chat-id id answer)
  "Give ANSWER of a desk to the tool call ID in the chat CHAT-ID of SESSION."
  (let ((option (plist-get answer :option_id))
        (note (plist-get answer :note))
        (call (list :chatId chat-id :toolCallId id)))
    (pcase option
      ("accept" (eca-api-notify session :method "chat/toolCallApprove" :params call))
      ("remember" (eca-api-notify session :method "chat/toolCallApprove"
                                  :params (append call (list :save "session"))))
      (_ (eca-api-notify session :method "chat/toolCallReject" :params call)))
    (when (and note (not (string-blank-p note))) (hive-eca--say note))))

(defun hive-eca--received (session params)
  "Look at what ECA received for SESSION: content with PARAMS."
  (hive-rpc-guarded #'hive-eca--content session params))

(defun hive-eca--content (session params)
  "Handle content of SESSION with PARAMS."
  (let* ((chat-id (plist-get params :chatId))
         ;; The work of a subagent is shown in the chat that started it.
         (shown-in (or (plist-get params :parentChatId) chat-id))
         (content (plist-get params :content))
         (id (plist-get content :id)))
    (hive-in-buffer (hive-eca--buffer session shown-in)
      (hive-eca--attach session shown-in)
      (pcase (plist-get content :type)
        ("toolCallRun"
         (when (and (hive-rpc-true-p content :manualApproval) (not (assoc id hive-eca--keys)))
           (hive-eca--open id (hive-eca--params content)
                           (lambda (answer) (hive-eca--approve session chat-id id answer)))))
        ((or "toolCallRunning" "toolCalled") (hive-eca--withdraw id "Accept"))
        ("toolCallRejected" (hive-eca--withdraw id "Reject"))
        ("progress"
         (unless (plist-get params :parentChatId)
           (pcase (plist-get content :state)
             ("running" (hive-editor-begin hive-eca--agent))
             ("finished" (hive-eca--over)))))))))

(defun hive-eca--over ()
  "Note that the turn of this buffer is over; say what was kept for its end."
  (hive-editor-end hive-eca--agent (if hive-eca--stopped "cancelled" "end_turn"))
  (setq hive-eca--keys nil
        hive-eca--stopped nil)
  (when-let* ((text (pop hive-eca--later)))
    (hive-rpc-later #'hive-call-in (current-buffer) #'hive-eca--say text)))

;;;; Questions

(defun hive-eca--field (option)
  "Return OPTION of a question, a string or a plist, as a choice of a form."
  (let ((label (if (stringp option) option (plist-get option :label)))
        (description (and (listp option) (plist-get option :description))))
    `((const . ,label) (title . ,label)
      ,@(and description `((description . ,description))))))

(defun hive-eca--form (params)
  "Return the form of `dialog/open' for a question with PARAMS."
  (let* ((options (append (plist-get params :options) nil))
         (choices (vconcat (mapcar #'hive-eca--field options)))
         (own (hive-rpc-true-p params :allowFreeform)))
    (list :message (or (plist-get params :question) "")
          :schema (hive-editor-json
                   `((type . "object") (required . ["answer"])
                     (properties
                      . ((answer . ((type . "string") (title . "Answer")
                                    ,@(and options `((oneOf . ,choices)))))
                         ,@(and options own '((answer_custom . ((type . "string"))))))))))))

(defun hive-eca--question-received (session request params)
  "Look at what ECA received for SESSION: the question REQUEST with PARAMS."
  (hive-rpc-guarded #'hive-eca--question session request params))

(defun hive-eca--question (session request params)
  "Offer the question REQUEST of SESSION with PARAMS at the desks."
  (let ((chat-id (plist-get params :chatId)))
    (hive-in-buffer (hive-eca--buffer session chat-id)
      (hive-eca--attach session chat-id)
      (setq hive-eca--asked request)
      (hive-eca--open request (list :form (hive-eca--form params))
                      (lambda (answer) (hive-eca--reply session request answer))))))

(defun hive-eca--reply (session request answer)
  "Give ANSWER of a desk to the question REQUEST of SESSION, in its buffer."
  (let* ((content (plist-get answer :content))
         ;; These two answer the question that the buffer shows.
         (is-shown (equal request hive-eca--asked))
         (text (and (equal "accept" (plist-get answer :action))
                    (or (plist-get content :answer) (plist-get content :answer_custom)))))
    (cond ((and is-shown text (hive-eca--private 'eca-chat--answer-question))
           (hive-eca--undisturbed (hive-eca--private 'eca-chat--answer-question) text))
          ((and is-shown (not text) (hive-eca--private 'eca-chat--cancel-question))
           (funcall (hive-eca--private 'eca-chat--cancel-question)))
          (t (eca-api-send-request-response
              session request (list :answer text :cancelled (if text :json-false t)))))))

(defun hive-eca--status (session)
  "Withdraw the questions of SESSION that their buffers no longer show."
  (hive-rpc-guarded
   (lambda ()
     (dolist (buffer (eca-chat-buffers session))
       (with-current-buffer buffer
         (when (and hive-eca--asked
                    (memq (eca-chat-status buffer) '(idle running stopping)))
           (hive-eca--withdraw hive-eca--asked)
           (setq hive-eca--asked nil)))))))

;;;; The end of a session

(defun hive-eca--session-ended (session)
  "Disconnect the chats of SESSION, whose server has ended."
  (hive-rpc-guarded
   (lambda ()
     (dolist (buffer (buffer-list))
       (with-current-buffer buffer
         (when (and hive-eca--agent (eq session (car hive-eca--chat)))
           (hive-eca--detach)))))))

;;;; On and off

(defun hive-eca-connect ()
  "Connect each chat of ECA as soon as something happens in it."
  (if (cl-notevery #'fboundp '(eca-chat-buffers eca-chat-status eca-api-notify eca-chat-content-received))
      (hive-rpc-log "this ECA is too old for Hive")
    (pcase-dolist (`(,function ,_ ,handler) hive-eca-advised)
      (when (fboundp function) (advice-add function :after handler)))
    (add-hook 'eca-chat-session-status-changed-functions #'hive-eca--status)))

(defun hive-eca-disconnect ()
  "Disconnect every chat of ECA."
  (pcase-dolist (`(,function ,_ ,handler) hive-eca-advised)
    (advice-remove function handler))
  (remove-hook 'eca-chat-session-status-changed-functions #'hive-eca--status)
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer (hive-eca--detach))))

(provide 'hive-eca)
;;; hive-eca.el ends here
